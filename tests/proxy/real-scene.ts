import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import {
  type ResponsesRequest,
  type ResponsesStep,
  scriptedModelConfig,
  startOpenaiResponses,
} from '@parley/runtimes';

import type { CodexTool } from '../agents/run-codex.ts';
import { createGate, type Gate, obeyPrompt } from '../runtimes/scripted-agent.ts';
import { requireTool } from '../tools/tools.ts';
import { openPlace, type Place, type ProxyClient, startProxy } from './proxy-client.ts';

/** A real Codex behind the proxy, with a model that does what it is told. */
export interface RealScene {
  place: Place;
  requests: ResponsesRequest[];
  gate: Gate;
  /** A proxy on the same home; the first ones are ended before another may have their identity. */
  start(args?: string[], env?: Record<string, string>, under?: string[]): Promise<ProxyClient>;
  close(): Promise<void>;
}

/** `first` may answer before the model that obeys prompts does. */
export async function openRealScene(
  tool: CodexTool,
  transport: string,
  first: (request: ResponsesRequest) => ResponsesStep[] | undefined = () => undefined,
): Promise<RealScene> {
  const place = openPlace();
  const gate = createGate();
  const model = await startOpenaiResponses(
    (request) => first(request) ?? obeyPrompt(request, place.work, gate),
  );
  const codexHome = join(place.home, '.codex');
  mkdirSync(codexHome);
  writeFileSync(join(codexHome, 'config.toml'), scriptedModelConfig(model.url));
  const proxies: ProxyClient[] = [];
  return {
    place,
    requests: model.requests,
    gate,
    async start(args = [], env = {}, under = []) {
      const proxy = await startProxy({
        place,
        under,
        args: ['--transport', transport, ...args],
        env: { CODEX_BIN: requireTool(tool), CODEX_HOME: codexHome, ...env },
      });
      proxies.push(proxy);
      return proxy;
    },
    async close() {
      gate.open();
      for (const proxy of proxies) await proxy.kill('SIGKILL');
      await model.close();
      await place.remove();
    },
  };
}
