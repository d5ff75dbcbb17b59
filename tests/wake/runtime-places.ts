import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import {
  CLAUDE_KEY,
  type MessagesRequest,
  type MessagesStep,
  pastFirstQuestions,
  QUIET_CLAUDE,
  type ResponsesRequest,
  type ResponsesStep,
  scriptedModelConfig,
  startAnthropicMessages,
  startOpenaiResponses,
} from '@parley/runtimes';

import type { McpServer } from '../agents/agent-run.ts';
import { codexConfig } from '../agents/codex-config.ts';
import { type IsolatedHome, openIsolatedHome } from '../agents/isolated-home.ts';
import { serverEntry, stepsOfClaude } from '../agents/run-claude.ts';
import { type CodexTool, stepsOfCodex } from '../agents/run-codex.ts';
import { PARLEY } from '../harness/start-hub.ts';
import { requireTool } from '../tools/tools.ts';
import { callsOfWoken, wakesIn } from './woken-mind.ts';

/** A real runtime in a home of its own, with a scripted model, as the hub's configuration names it. */
export interface RuntimePlace {
  place: IsolatedHome;
  bin: string;
  /** Its whole environment, for the tests' own starts. */
  env: Record<string, string>;
  /** CODEX_HOME or CLAUDE_CONFIG_DIR. */
  home: string;
  /** All that its model was asked, as text. */
  asked(): string[];
  close(): Promise<void>;
}

export interface CodexPlace extends RuntimePlace {
  /** What the model waits for before it answers a prompt with the word NEXT. */
  hold: { until: Promise<void> };
}

type StdioServer = McpServer & { kind: 'stdio' };

/** The hub's tools for one agent on stdio: its token is made in that process, and stands in no environment. */
export function hubServer(data: string, agent: string): StdioServer {
  const args = [PARLEY, 'mcp', '--data', data, '--agent', agent, '--workspace', 'w1'];
  return { kind: 'stdio', command: process.execPath, args };
}

/** What a model does before anything else; undefined where it minds its wakes. */
interface Further<Request, Step> {
  script?: (request: Request) => Step[] | undefined | Promise<Step[] | undefined>;
}

/** What those who are started with the hub's tools call them; else they are configured as `hub`. */
const GIVEN = 'parley';

/** A Codex that answers in the thread it is woken for; without a server of its own it is given the hub's tools. */
export async function openCodexPlace(
  tool: CodexTool,
  server: StdioServer | undefined,
  { script }: Further<ResponsesRequest, ResponsesStep> = {},
): Promise<CodexPlace> {
  const place = await openIsolatedHome();
  const hold = { until: Promise.resolve() };
  const model = await startOpenaiResponses(async (request) => {
    // Codex also asks for a title, without tools.
    if (request.body.tools.length === 0) return [{ text: 'a title' }];
    const further = await script?.(request);
    if (further !== undefined) return further;
    const wakes = wakesIn(request.body.input);
    if (JSON.stringify(request.body.input.at(-1)).includes('NEXT')) await hold.until;
    else if (wakes.length > 0)
      return stepsOfCodex(request, callsOfWoken(wakes), server === undefined ? GIVEN : 'hub');
    return [{ text: 'ready' }];
  });
  const home = path.join(place.home, '.codex');
  await mkdir(home);
  const config =
    server === undefined
      ? scriptedModelConfig(model.url)
      : codexConfig({ modelUrl: model.url, name: 'hub', server, features: {}, marker: place.root });
  const trusted = `[projects."${place.work}"]\ntrust_level = "trusted"\n`;
  await writeFile(path.join(home, 'config.toml'), `${config}\n${trusted}`);
  return {
    place,
    home,
    hold,
    bin: requireTool(tool),
    env: { ...place.env, CODEX_HOME: home },
    asked: () =>
      model.requests
        .filter(({ body }) => body.tools.length > 0)
        .map(({ body }) => JSON.stringify(body.input)),
    async close() {
      await model.close();
      await place.remove();
    },
  };
}

/** A Claude Code that answers in the thread it is woken for; `args` is what the hub must start it with. */
export async function openClaudePlace(
  server: StdioServer | undefined,
  { script }: Further<MessagesRequest, MessagesStep> = {},
): Promise<RuntimePlace & { args: string[] }> {
  const place = await openIsolatedHome();
  const model = await startAnthropicMessages(async (request) => {
    const further = await script?.(request);
    if (further !== undefined) return further;
    const wakes = wakesIn(request.body.messages);
    const name = server === undefined ? GIVEN : 'hub';
    return wakes.length === 0 ? [{ text: 'ready' }] : stepsOfClaude(request, callsOfWoken(wakes), name);
  });
  const home = path.join(place.home, '.claude');
  const config = path.join(place.home, 'mcp.json');
  const servers = server === undefined ? {} : { hub: serverEntry(server) };
  await writeFile(config, JSON.stringify({ mcpServers: servers }));
  await mkdir(home);
  await writeFile(path.join(home, '.claude.json'), JSON.stringify(pastFirstQuestions(place.work)));
  const env = {
    ...place.env,
    ...QUIET_CLAUDE,
    CLAUDE_CONFIG_DIR: home,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: CLAUDE_KEY,
  };
  return {
    place,
    home,
    env,
    bin: requireTool('claude'),
    args: ['--strict-mcp-config', '--mcp-config', config, '--allowedTools', 'mcp__hub'],
    asked: () => model.requests.map(({ body }) => JSON.stringify(body.messages)),
    async close() {
      await model.close();
      await place.remove();
    },
  };
}
