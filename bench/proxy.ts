import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { freshFolder, removeFolder } from './hub-process.ts';
import { cpuSeconds, residentMb } from './load.ts';
import { line } from './report.ts';

const CHILD = fileURLToPath(new URL('../tests/proxy/scripted-codex.mjs', import.meta.url));
const PIPE = fileURLToPath(new URL('byte-pipe.ts', import.meta.url));
const PROXY = fileURLToPath(new URL('../packages/codex-proxy/bin/atm-agent-mcp.mjs', import.meta.url));

const ROUNDS = 15;
const REQUESTS = 300;
const SESSIONS = 20;
const TURNS = 10_000;

/** One server on stdio, asked one thing after the other. */
interface Line {
  process: ChildProcess;
  ask(
    method: string,
    params: object,
  ): Promise<{ structuredContent: { threadId: string; agent_id?: string } }>;
}

/** What the proxy adds to a request and to a turn, beside a byte pipe to the same child; then load and memory. */
export async function benchProxy(): Promise<void> {
  const home = freshFolder();
  const direct = open([CHILD, 'mcp-server'], home);
  const pipe = open(
    ['--import', import.meta.resolve('tsx'), PIPE, process.execPath, CHILD, 'mcp-server'],
    home,
  );
  const proxy = open([PROXY, 'serve', '--set', `max_concurrent_threads=${SESSIONS + 1}`], home);
  const lines = { direct, pipe, proxy };
  try {
    for (const one of Object.values(lines))
      await one.ask('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'b' },
      });
    const turns = await Promise.all(Object.values(lines).map(session));
    const [replyDirect, replyPipe, replyProxy] = turns;
    const params = { text: 'x'.repeat(300) };
    const cpu = (): { pipe: number; proxy: number } => ({
      pipe: cpuSeconds(pipe.process.pid ?? 0),
      proxy: cpuSeconds(proxy.process.pid ?? 0),
    });
    const requests = {
      direct: () => direct.ask('echo/this', params),
      pipe: () => pipe.ask('echo/this', params),
      proxy: () => proxy.ask('echo/this', params),
    };
    await compare('a request passed on', requests, cpu);
    await compare('a turn', { direct: replyDirect!, pipe: replyPipe!, proxy: replyProxy! }, cpu);
    line('promised', 'at most 0.3 ms added at p50, 2 ms at p99, over the direct line');
    await crowd(proxy);
    await memory(proxy, replyProxy!);
  } finally {
    for (const one of Object.values(lines)) one.process.kill('SIGKILL');
    removeFolder(home);
  }
}

function open(args: string[], home: string): Line {
  const env = { PATH: process.env['PATH'], HOME: home, ATM_HOME: home, CODEX_BIN: CHILD };
  const child = spawn(process.execPath, args, { env, cwd: home, stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<unknown, (result: never) => void>();
  let rest = '';
  let last = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const texts = (rest + text).split('\n');
    rest = texts.pop() ?? '';
    for (const one of texts) {
      // What is no answer is not looked into, so that the reader costs each line the same.
      if (one.startsWith('{"jsonrpc":"2.0","method"')) continue;
      const { id, result } = JSON.parse(one) as { id: unknown; result: never };
      waiting.get(id)?.(result);
      waiting.delete(id);
    }
  });
  return {
    process: child,
    ask(method, params) {
      const id = ++last;
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      });
    },
  };
}

/** Opens a session and returns how to run one turn of it. */
async function session(on: Line, index: number): Promise<() => Promise<unknown>> {
  const call = (name: string, args: object) => on.ask('tools/call', { name, arguments: args });
  const own = index === 2 ? { identity: 'one' } : {};
  const { structuredContent } = await call('codex', { prompt: 'say hi', ...own });
  const { threadId, agent_id } = structuredContent;
  const key = agent_id === undefined ? { threadId } : { agent_id };
  return () => call('codex-reply', { ...key, prompt: 'say hi' });
}

/** Rounds in turn, so that a busy moment of the machine hits all alike; medians over the rounds. */
async function compare(
  what: string,
  ways: Record<'direct' | 'pipe' | 'proxy', () => Promise<unknown>>,
  cpu: () => { pipe: number; proxy: number },
): Promise<void> {
  const rounds: Record<string, { p50: number; p99: number }[]> = {};
  const before = cpu();
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries(ways)) {
      const times: number[] = [];
      for (let i = 0; i < REQUESTS; i++) {
        const began = performance.now();
        await run();
        times.push(performance.now() - began);
      }
      if (round >= 0) (rounds[name] ??= []).push({ p50: at(times, 0.5), p99: at(times, 0.99) });
    }
  }
  const median = (name: string, of: 'p50' | 'p99'): number =>
    at(
      (rounds[name] ?? []).map((round) => round[of]),
      0.5,
    );
  const added = (name: string, of: 'p50' | 'p99'): string =>
    (median(name, of) - median('direct', of)).toFixed(2);
  const after = cpu();
  const used = (name: 'pipe' | 'proxy'): string =>
    (((after[name] - before[name]) * 1e6) / (REQUESTS * (ROUNDS + 1))).toFixed(0);
  line(
    what,
    `direct p50 ${median('direct', 'p50').toFixed(2)} ms; added by a byte pipe p50 ${added('pipe', 'p50')}, p99 ${added('pipe', 'p99')}; by the proxy p50 ${added('proxy', 'p50')}, p99 ${added('proxy', 'p99')}; CPU ${used('pipe')} and ${used('proxy')} µs`,
  );
}

async function crowd(proxy: Line): Promise<void> {
  const call = (name: string, args: object) => proxy.ask('tools/call', { name, arguments: args });
  const agents = await Promise.all(
    Array.from({ length: SESSIONS }, (_, i) => call('codex', { prompt: 'say hi', identity: `crowd-${i}` })),
  );
  const times: number[] = [];
  const began = performance.now();
  await Promise.all(
    agents.map(async ({ structuredContent: { agent_id } }) => {
      for (let i = 0; i < 100; i++) {
        const from = performance.now();
        await call('codex-reply', { agent_id, prompt: 'say hi' });
        times.push(performance.now() - from);
      }
    }),
  );
  const rate = Math.round((times.length / (performance.now() - began)) * 1_000);
  line(
    `${SESSIONS} sessions at once`,
    `${rate} turns/s, p50 ${at(times, 0.5).toFixed(1)} ms, p99 ${at(times, 0.99).toFixed(1)} ms`,
  );
}

async function memory(proxy: Line, turn: () => Promise<unknown>): Promise<void> {
  const sizes: number[] = [];
  for (let i = 1; i <= TURNS; i++) {
    await turn();
    if (i % (TURNS / 5) === 0) sizes.push(residentMb(proxy.process.pid ?? 0));
  }
  line(`memory over ${TURNS} turns`, `${sizes.map((size) => size.toFixed(0)).join(', ')} MB`);
}

function at(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
