import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import {
  CLAUDE_KEY,
  type MessagesRequest,
  pastFirstQuestions,
  type ResponsesRequest,
  scriptedModelConfig,
  startAnthropicMessages,
  startOpenaiResponses,
} from '@parley/runtimes';

import { onTestFinished } from 'vitest';

import { openIsolatedHome } from '../agents/isolated-home.ts';
import { requireTool } from '../tools/tools.ts';

/** A real agent, ready to be started at a terminal, and the scripted model behind it. */
export interface AgentTerminal {
  program: string[];
  env: Record<string, string>;
  cwd: string;
  /** What people said to the model, in order, each turn's last text. */
  heard(): string[];
  /** Lets a turn that was told SLOW come to its end. */
  finish(): void;
}

/** A word in a prompt that makes the model think until `finish`, and one that makes it want to run a command. */
export const SLOW = 'SLOW';
export const ASKS = 'WANTS-TO-RUN';

/** Prepares Codex with a home of its own. */
export async function prepareCodex(tool: 'codex' | 'codex-0153'): Promise<AgentTerminal> {
  const place = await openIsolatedHome();
  const gate = createGate();
  const model = await startOpenaiResponses(async (request) => {
    const said = codexSaid(request);
    if (said.includes(SLOW)) await gate.opened;
    const isAnswered = request.body.input.at(-1)?.type === 'function_call_output';
    if (!said.includes(ASKS) || isAnswered || request.body.tools.length === 0)
      return [{ text: 'understood' }];
    const wish = { cmd: 'touch made', sandbox_permissions: 'require_escalated', justification: 'to see' };
    return [{ call: 'exec_command', arguments: wish, id: 'call_1' }];
  });
  const home = path.join(place.home, '.codex');
  await mkdir(home);
  const trusted = `[projects."${place.work}"]\ntrust_level = "trusted"\n`;
  await writeFile(path.join(home, 'config.toml'), `${scriptedModelConfig(model.url)}\n${trusted}`);
  onTestFinished(async () => {
    gate.open();
    await model.close();
    await place.remove();
  });
  return {
    program: [requireTool(tool), ...(tool === 'codex' ? ['--no-daemon'] : [])],
    env: { ...place.env, TERM: 'xterm-256color', CODEX_HOME: home },
    cwd: place.work,
    heard: () => model.requests.filter(({ body }) => body.tools.length > 0).map(codexSaid),
    finish: () => gate.open(),
  };
}

/** Prepares Claude Code with a home of its own, past its first questions. */
export async function prepareClaude(): Promise<AgentTerminal> {
  const place = await openIsolatedHome();
  const gate = createGate();
  const model = await startAnthropicMessages(async (request) => {
    const said = claudeSaid(request);
    if (said.includes(SLOW)) await gate.opened;
    const hasTools = (request.body.tools ?? []).length > 0;
    const isAnswered = JSON.stringify(request.body.messages.at(-1)).includes('tool_result');
    if (!said.includes(ASKS) || isAnswered || !hasTools) return [{ text: 'understood' }];
    return [{ use: 'Bash', input: { command: 'touch made', description: 'to see' }, id: 'toolu_1' }];
  });
  const config = path.join(place.home, '.claude');
  await mkdir(config);
  await writeFile(path.join(config, '.claude.json'), JSON.stringify(pastFirstQuestions(place.work)));
  onTestFinished(async () => {
    gate.open();
    await model.close();
    await place.remove();
  });
  return {
    program: [requireTool('claude'), '--permission-mode', 'default'],
    env: {
      ...place.env,
      TERM: 'xterm-256color',
      CLAUDE_CONFIG_DIR: config,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: CLAUDE_KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_ERROR_REPORTING: '1',
      IS_SANDBOX: '1',
    },
    cwd: place.work,
    heard: () => model.requests.filter(({ body }) => (body.tools ?? []).length > 0).map(claudeSaid),
    finish: () => gate.open(),
  };
}

function createGate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

function codexSaid({ body }: ResponsesRequest): string {
  const last = body.input.filter(({ role }) => role === 'user').at(-1);
  return ((last?.content ?? []) as { text?: string }[]).map(({ text = '' }) => text).join('\n');
}

function claudeSaid({ body }: MessagesRequest): string {
  const content = body.messages.filter(({ role }) => role === 'user').at(-1)?.content ?? '';
  if (typeof content === 'string') return content;
  return content.filter(({ type }) => type === 'text').at(-1)?.text ?? '';
}
