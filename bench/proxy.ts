import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { freshFolder, removeFolder } from './hub-process.ts';
import { cpuSeconds, residentMb } from './load.ts';
import { hold, line } from './report.ts';

const CHILD = fileURLToPath(new URL('../tests/proxy/scripted-codex.mjs', import.meta.url));
const PIPE = fileURLToPath(new URL('byte-pipe.ts', import.meta.url));
const PROXY = fileURLToPath(new URL('../packages/codex-proxy/bin/atm-agent-mcp.mjs', import.meta.url));
/** The `atm-agent-mcp.mjs` of another state of this program, built in a work tree of its own, to stand beside this one. */
const BEFORE = process.env['PROXY_BEFORE'];

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

type Way = 'direct' | 'pipe' | 'proxy' | 'before';
type Ways<T> = { [way in Way]?: T };

/**
 * What the proxy adds to a request and to a turn, beside a byte pipe to the same child and, where `PROXY_BEFORE` names
 * it, an earlier proxy; then load and memory.
 */
export async function benchProxy(): Promise<void> {
  const homes: string[] = [];
  const openLine = (...args: string[]): Line => {
    const home = freshFolder();
    homes.push(home);
    return open(args, home);
  };
  const serve = ['serve', '--set', `max_concurrent_threads=${SESSIONS + 1}`];
  const proxy = openLine(PROXY, ...serve);
  const lines: Ways<Line> = {
    direct: openLine(CHILD, 'mcp-server'),
    pipe: openLine('--import', import.meta.resolve('tsx'), PIPE, process.execPath, CHILD, 'mcp-server'),
    proxy,
    ...(BEFORE === undefined ? {} : { before: openLine(BEFORE, ...serve) }),
  };
  try {
    for (const one of Object.values(lines))
      await one.ask('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'b' },
      });
    const each = <T>(make: (on: Line) => T): Ways<T> =>
      Object.fromEntries(Object.entries(lines).map(([way, on]) => [way, make(on)]));
    const params = { text: 'x'.repeat(300) };
    const requests = each((on) => () => on.ask('echo/this', params));
    const turns: Ways<() => Promise<unknown>> = {};
    for (const [way, on] of Object.entries(lines)) turns[way as Way] = await session(on, way as Way);
    const cpu = (): Ways<number> => each(({ process: { pid } }) => cpuSeconds(pid ?? 0));
    await compare('a request passed on', requests, cpu);
    await compare('a turn', turns, cpu);
    await crowd(proxy);
    await memory(proxy, turns.proxy!);
  } finally {
    for (const one of Object.values(lines)) one.process.kill('SIGKILL');
    homes.forEach(removeFolder);
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
async function session(on: Line, way: Way): Promise<() => Promise<unknown>> {
  const call = (name: string, args: object) => on.ask('tools/call', { name, arguments: args });
  const own = way === 'proxy' || way === 'before' ? { identity: 'one' } : {};
  const { structuredContent } = await call('codex', { prompt: 'say hi', ...own });
  const { threadId, agent_id } = structuredContent;
  const key = agent_id === undefined ? { threadId } : { agent_id };
  return () => call('codex-reply', { ...key, prompt: 'say hi' });
}

/** Rounds in turn, so that a busy moment of the machine hits all alike; medians over the rounds. */
async function compare(
  what: string,
  ways: Ways<() => Promise<unknown>>,
  cpu: () => Ways<number>,
): Promise<void> {
  const rounds: Ways<{ p50: number; p99: number }[]> = {};
  const before = cpu();
  for (let round = -1; round < ROUNDS; round++) {
    for (const [way, run] of Object.entries(ways)) {
      const times: number[] = [];
      for (let i = 0; i < REQUESTS; i++) {
        const began = performance.now();
        await run();
        times.push(performance.now() - began);
      }
      if (round >= 0) (rounds[way as Way] ??= []).push({ p50: at(times, 0.5), p99: at(times, 0.99) });
    }
  }
  const after = cpu();
  const times = (way: Way, of: 'p50' | 'p99'): number[] => (rounds[way] ?? []).map((round) => round[of]);
  const median = (way: Way, of: 'p50' | 'p99'): number => at(times(way, of), 0.5);
  const more = (way: Way, of: 'p50' | 'p99'): number => median(way, of) - median('direct', of);
  const added = (way: Way, of: 'p50' | 'p99'): string => more(way, of).toFixed(2);
  const used = (way: Way): number =>
    (((after[way] ?? 0) - (before[way] ?? 0)) * 1e6) / (REQUESTS * (ROUNDS + 1));
  line(
    what,
    `direct p50 ${median('direct', 'p50').toFixed(2)} ms; added by a byte pipe p50 ${added('pipe', 'p50')}, p99 ${added('pipe', 'p99')}; by the proxy p50 ${added('proxy', 'p50')}, p99 ${added('proxy', 'p99')}; CPU ${used('pipe').toFixed(0)} and ${used('proxy').toFixed(0)} µs`,
  );
  hold('proxy.p50', more('proxy', 'p50'), { what: `${what}, added at p50` });
  hold('proxy.p99', more('proxy', 'p99'), { what: `${what}, added at p99` });
  if (ways.before === undefined) return;
  const ratio = (of: 'p50' | 'p99'): string => {
    const each = times('proxy', of).map((ms, round) => ms / (times('before', of)[round] ?? ms));
    return `${at(each, 0.5).toFixed(2)} (${Math.min(...each).toFixed(2)}–${Math.max(...each).toFixed(2)})`;
  };
  line(
    '  to the earlier proxy',
    `p50 ${ratio('p50')}, p99 ${ratio('p99')}; CPU ${(used('proxy') / used('before')).toFixed(2)} of ${used('before').toFixed(0)} µs`,
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
