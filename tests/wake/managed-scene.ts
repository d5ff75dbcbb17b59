import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';

import type { Ask, OutputOf } from '@parley/protocol';
import type { MessagesRequest, MessagesStep, ResponsesRequest, ResponsesStep } from '@parley/runtimes';
import { expect, onTestFinished } from 'vitest';

import type { CodexTool } from '../agents/run-codex.ts';
import { tokenFor } from '../faults/crash-hub.ts';
import { clientOf, ok, readAll } from '../faults/hub-client.ts';
import { PARLEY } from '../harness/start-hub.ts';
import { openClaudePlace, openCodexPlace, type RuntimePlace } from './runtime-places.ts';
import { followHub, type HubPlace, PATIENT, WORKSPACE } from './supervised-scene.ts';

/** A word that makes the model wait until `finish`, and one that makes it want to run `touch` on the name after it. */
export const SLOW = 'SLOW';
export const WANTS = /^WANTS (\w+)$/;

export interface ManagedPlace extends RuntimePlace {
  /** What the program is started with. */
  args: string[];
  /** Lets the model end what it is slow at. */
  finish(): void;
}

/** A Codex whose model minds these words. */
export async function managedCodex(tool: CodexTool): Promise<ManagedPlace> {
  const gate = createGate();
  const script = async ({ body }: ResponsesRequest): Promise<ResponsesStep[] | undefined> => {
    const last = body.input.at(-1);
    if (last?.type === 'function_call_output' && String(last.call_id).startsWith('want-'))
      return [{ text: 'so be it' }];
    const said = codexText(last?.content);
    if (said.startsWith(SLOW)) {
      await gate.opened();
      return [{ text: 'slowly done' }];
    }
    const [, name] = WANTS.exec(said) ?? [];
    if (name === undefined) return said.includes('[parley]') || said === '' ? undefined : [{ text: 'noted' }];
    const wish = { cmd: `touch ${name}`, sandbox_permissions: 'require_escalated', justification: 'to see' };
    return [{ call: 'exec_command', arguments: wish, id: `want-${name}` }];
  };
  const place = await openCodexPlace(tool, undefined, { script });
  const args = ['--sandbox', 'read-only', '--ask-for-approval', 'on-request'];
  return { ...place, args, finish: () => gate.open() };
}

/** A Claude Code whose model minds these words. */
export async function managedClaude(): Promise<ManagedPlace> {
  const gate = createGate();
  const script = async ({ body }: MessagesRequest): Promise<MessagesStep[] | undefined> => {
    // Reminders of Claude Code's own stand beside the prompt, or after it.
    const since = body.messages.findLastIndex(({ role }) => role === 'assistant') + 1;
    const blocks = body.messages
      .slice(since)
      .flatMap(({ content }) => (Array.isArray(content) ? content : [{ type: 'text', text: content }]));
    const result = blocks.findLastIndex(
      (block) => 'tool_use_id' in block && block.tool_use_id.startsWith('want_'),
    );
    // What follows the result of a tool that was cut off is the next prompt.
    const said = blocks.slice(result + 1).map(({ text = '' }) => text.trim());
    if (result >= 0 && !said.some((text) => text.startsWith(SLOW) || text.includes('[parley]')))
      return [{ text: 'so be it' }];
    if (said.some((text) => text.startsWith(SLOW))) {
      await gate.opened();
      return [{ text: 'slowly done' }];
    }
    const [, name] = said.map((text) => WANTS.exec(text)).find((found) => found !== null) ?? [];
    if (name === undefined) return undefined;
    return [{ use: 'Bash', input: { command: `touch ${name}`, description: 'to see' }, id: `want_${name}` }];
  };
  const place = await openClaudePlace(undefined, { script });
  // What the runtime place wants is for sessions that have a server of their own.
  return { ...place, args: ['--permission-mode', 'default'], finish: () => gate.open() };
}

/** A session under `parley run --managed`. */
export interface ManagedRun {
  pid: number;
  news: { event: string; message: string; sessionId?: string; pid?: number }[];
  stderr(): string;
  /** Asks it to end, and waits. */
  stop(): Promise<number | null>;
  exited: Promise<number | null>;
}

/** Starts `parley run --managed` and waits until the hub reaches it. */
export async function runManaged(
  { folder, url }: HubPlace,
  agent: string,
  place: ManagedPlace,
  options: string[] = [],
): Promise<ManagedRun> {
  const where = ['--data', folder, '--agent', agent, '--workspace', WORKSPACE, '--json'];
  const words = [PARLEY, 'run', '--managed', ...where, ...options, '--', place.bin, ...place.args];
  const env = { ...place.env, NODE_NO_WARNINGS: '1' };
  const child = spawn(process.execPath, words, {
    env,
    cwd: place.place.work,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const news: ManagedRun['news'] = [];
  let stderr = '';
  let rest = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    news.push(...lines.map((line) => JSON.parse(line) as ManagedRun['news'][number]));
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const stop = (): Promise<number | null> => {
    child.kill('SIGTERM');
    return exited;
  };
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const client = clientOf(url, 'alice', await tokenFor(folder, 'alice'));
  const reached = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`parley run ended: ${stderr}${JSON.stringify(news)}`);
    const { status, body } = await client.call<OutputOf<'get_agent'>>('get_agent', { of_agent: agent });
    return status === 200 && body.connected.length > 0 && body.capabilities.includes('session_deliver');
  };
  await expect.poll(reached, PATIENT).toBe(true);
  client.close();
  return { pid: child.pid ?? 0, news, stderr: () => stderr, stop, exited };
}

type Usage = OutputOf<'get_usage'>;

/** The person at the desk. */
export async function deskOf(hub: () => HubPlace, of_agent: string) {
  const ann = await followHub(hub, 'ann', 'operator');
  const call = async <T>(operation: string, input: unknown): Promise<T> =>
    ok(await ann().call<T>(operation, input));
  const asks = async (status = 'open'): Promise<Ask[]> =>
    (await call<{ asks: Ask[] }>('list_asks', { of_agent, status })).asks;
  return {
    asks,
    async command(command: string, parameters: Record<string, unknown> = {}) {
      const about = { of_agent, command, parameters, timeout_ms: 30_000 };
      const { success, result, error } = await call<OutputOf<'command_agent'>>('command_agent', about);
      if (!success) throw new Error(JSON.stringify(error));
      return result;
    },
    /** Waits for the one thing that is asked now. */
    async asked(): Promise<Ask> {
      await expect.poll(async () => (await asks()).length, PATIENT).toBe(1);
      return (await asks())[0] as Ask;
    },
    answer: (ask_id: string, answer: Record<string, unknown>) => call('answer_ask', { ask_id, ...answer }),
    /** Has the agent woken at once, whatever it is at. */
    force: (thread_id: string, reason: string) =>
      call('trigger_participant', { thread_id, target_agent_id: of_agent, force: true, audit: { reason } }),
    agent: () => call<OutputOf<'get_agent'>>('get_agent', { of_agent }),
    usage: (by: Usage['by']) => call<Usage>('get_usage', { by, of_agent }),
    async journal(): Promise<string[]> {
      const { journal_thread_id: thread_id } = await call<OutputOf<'get_agent'>>('get_agent', { of_agent });
      const entries = await readAll(ann(), thread_id ?? '');
      return entries.map(({ sender_agent_id, body }) => `${sender_agent_id}: ${body}`);
    },
    ask: async (ask_id: string) => (await call<{ ask: Ask }>('get_ask', { ask_id })).ask,
    async state() {
      return (await this.command('session_state')) as { state: string; session_id: string };
    },
  };
}

/** The processes that carry this text in their environment. */
export function processesOf(marker: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(marker);
      } catch {
        return false;
      }
    });
}

/** The real binaries, newest first, each as an agent of its own. */
export const MANAGED: [agent: string, prepare: () => Promise<ManagedPlace>, canSteer: boolean][] = [
  ['codex', () => managedCodex('codex'), true],
  ['codex-0153', () => managedCodex('codex-0153'), true],
  ['claude', managedClaude, false],
];

/** Lets one through at a time: whoever waits, or the next who comes. */
function createGate() {
  let waiting: (() => void)[] = [];
  let isOpen = false;
  return {
    opened(): Promise<void> {
      if (!isOpen) return new Promise((resolve) => waiting.push(resolve));
      isOpen = false;
      return Promise.resolve();
    },
    open(): void {
      isOpen = waiting.length === 0;
      for (const go of waiting) go();
      waiting = [];
    },
  };
}

function codexText(content: unknown): string {
  const parts = Array.isArray(content) ? (content as { text?: string }[]) : [];
  return parts.at(-1)?.text ?? '';
}
