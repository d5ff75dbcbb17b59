import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import {
  type ChatRequest,
  type ChatStep,
  opencodeConfig,
  opencodeConfigFile,
  quietOpencode,
  startOpenaiChat,
} from '@parley/runtimes';

import { argumentsOf, type ToolCall, toolResult } from '../agents/agent-run.ts';
import { openIsolatedHome } from '../agents/isolated-home.ts';
import { requireTool } from '../tools/tools.ts';
import type { RuntimePlace } from './runtime-places.ts';
import { callsOfWoken, wakesIn } from './woken-mind.ts';

export interface OpencodePlace extends RuntimePlace {
  /** Lets the model end what it was slow at. */
  finish(): void;
}

/** An opencode that answers in the thread it is woken for; SLOW makes its model wait, ENDLESS for ever, TOUCH makes it want to run something. */
export async function openOpencodePlace(): Promise<OpencodePlace> {
  const place = await openIsolatedHome();
  let finish = (): void => {};
  const hold = new Promise<void>((resolve) => (finish = resolve));
  const model = await startOpenaiChat((request): ChatStep[] => {
    const { messages, tools } = request;
    if (tools === undefined) return [{ text: 'a title' }];
    const last = messages.at(-1);
    const said = last?.role === 'user' ? JSON.stringify(last) : '';
    if (said.includes('SLOW')) return [{ text: 'slowly', hold }];
    if (said.includes('ENDLESS')) return [{ text: 'on and on', hold: new Promise(() => {}) }];
    if (said.includes('TOUCH'))
      return [{ call: 'bash', id: 'touch', arguments: { command: 'touch made', description: 'to see' } }];
    if (said.includes('REFUSED'))
      return [
        { call: 'bash', id: 'refused', arguments: { command: 'touch refused', description: 'to see' } },
      ];
    if (last?.['tool_call_id'] === 'touch') return [{ text: 'so be it' }];
    const wakes = wakesIn(messages);
    return wakes.length === 0 ? [{ text: 'ready' }] : stepsOfChat(request, callsOfWoken(wakes), 'parley');
  });
  const file = opencodeConfigFile(place.home);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(opencodeConfig(model.url)));
  return {
    place,
    home: place.home,
    bin: requireTool('opencode'),
    env: { ...place.env, ...quietOpencode(place.home) },
    asked: () => model.requests.map(({ messages }) => JSON.stringify(messages)),
    finish: () => finish(),
    async close() {
      await model.close();
      await place.remove();
    },
  };
}

/** The next call of a plan, as far as the conversation has come. */
function stepsOfChat({ messages }: ChatRequest, calls: ToolCall[], server: string): ChatStep[] {
  const results = messages
    .filter(({ tool_call_id: id }) => String(id).startsWith('plan_'))
    .map(({ content }) =>
      toolResult('', typeof content === 'string' ? content : JSON.stringify(content), false),
    );
  const call = calls[results.length];
  if (call === undefined) return [{ text: 'done' }];
  const id = `plan_${results.length}`;
  return [{ call: `${server}_${call.tool}`, arguments: argumentsOf(call, results), id }];
}
