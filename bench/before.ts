import { type Crowd, gather } from './follow.ts';
import { freshFolder, type HubProcess, removeFolder, startHub } from './hub-process.ts';
import { cpuSeconds, load } from './load.ts';
import { overMcp } from './mcp.ts';
import { fill, pageHead } from './million.ts';
import { preparePosts } from './posts.ts';
import { hold, line } from './report.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 12);
const MESSAGES = Number(process.env['BENCH_MESSAGES'] ?? 200_000);
const MS = 1_500;
const STARTS = 5;
/** Which of the threads is filled. */
const LONG = 4;

/** What one build takes for one round of a kind: both are better when they are smaller. */
interface Cost {
  cpu: number;
  wall: number;
}

interface Build {
  program: string | undefined;
  hub: HubProcess;
  token: string;
  head: string;
  bodies: string[];
  threads: string[];
  crowd: Crowd;
}

/**
 * This build beside an earlier one, whose `parley.mjs` BENCH_BEFORE names: posts, MCP, followers, pages of a long thread
 * and starts, in alternating rounds that are compared in pairs.
 */
export async function benchBefore(): Promise<void> {
  const { BENCH_BEFORE: program = '' } = process.env;
  if (program === '') return line('before', 'needs BENCH_BEFORE: the parley.mjs of an earlier build');
  const builds = [await open(program), await open()];
  try {
    await compare('posts, 64 connections', builds, (build, seed) => posts(build, 64, seed));
    await compare('posts, 256 connections', builds, (build, seed) => posts(build, 256, seed));
    await compare('posts over MCP', builds, (build, seed) => posts(build, 16, seed, true));
    await compare('a message at 1,000 followers', builds, followed);
    for (const { crowd } of builds) crowd.leave();
    for (const { hub, head, threads } of builds) await fill(hub, head, threads[LONG] ?? '', MESSAGES);
    await compare(`a page of ${MESSAGES.toLocaleString('en')}`, builds, pages);
    await compare('a start on them, after a kill', builds, started, STARTS);
  } finally {
    for (const { hub } of builds) {
      await hub.stop();
      removeFolder(hub.data);
    }
  }
}

async function open(program?: string): Promise<Build> {
  const hub = await startHub(freshFolder(), {}, [], program);
  const made = await preparePosts(hub);
  return { program, hub, ...made, crowd: await gather(hub, made.token, made.threads[0] ?? '') };
}

/** The middle of the ratios, before to now, of rounds of which now one and now the other build has the first. */
async function compare(
  what: string,
  builds: readonly Build[],
  round: (build: Build, seed: string) => Promise<Cost>,
  rounds = ROUNDS,
): Promise<void> {
  const [before, now] = builds;
  if (before === undefined || now === undefined) return;
  const cpu: number[] = [];
  const wall: number[] = [];
  // The first of each compiles what it runs.
  for (let n = -1; n < rounds; n++) {
    const order = n % 2 === 0 ? [before, now] : [now, before];
    const costs = new Map<Build, Cost>();
    for (const build of order) costs.set(build, await round(build, `${what}${n}`));
    const [old, fresh] = [costs.get(before), costs.get(now)];
    if (n < 0 || old === undefined || fresh === undefined) continue;
    cpu.push(old.cpu / fresh.cpu);
    wall.push(old.wall / fresh.wall);
  }
  for (const [of, ratios] of Object.entries({ CPU: cpu, time: wall })) {
    const sorted = ratios.toSorted((a, b) => a - b);
    const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2);
    const middle = sorted[sorted.length >> 1] ?? 0;
    const figure = `${middle.toFixed(2)} times, half of the rounds ${at(0.25)} to ${at(0.75)}`;
    hold('before.ratio', middle, { what: `${what}, ${of}`, figure });
  }
}

async function posts({ hub, ...made }: Build, connections: number, seed: string, mcp = false): Promise<Cost> {
  const { head, bodies } = mcp ? overMcp(hub.port, made.token, made.bodies) : made;
  return cost(hub, () =>
    load({ host: '127.0.0.1', port: hub.port, connections, ms: MS, head, bodies, seed }),
  );
}

function pages({ hub, token, threads }: Build, seed: string): Promise<Cost> {
  const head = pageHead(hub.port, token, threads[LONG] ?? '', MESSAGES / 2);
  return cost(hub, () =>
    load({ host: '127.0.0.1', port: hub.port, connections: 4, ms: MS, head, bodies: [''], seed }),
  );
}

/** Of a request, from a load. */
async function cost(
  hub: HubProcess,
  run: () => Promise<{ requests: number; errors: number; ms: number }>,
): Promise<Cost> {
  const before = cpuSeconds(hub.pid);
  const { requests, errors, ms } = await run();
  if (errors > 0) throw new Error(`${errors} of ${requests} requests failed`);
  return { cpu: (cpuSeconds(hub.pid) - before) / requests, wall: ms / requests };
}

async function followed({ hub, crowd }: Build): Promise<Cost> {
  const before = cpuSeconds(hub.pid);
  const delays = await crowd.post(30);
  return { cpu: cpuSeconds(hub.pid) - before, wall: delays[Math.floor(delays.length * 0.99)] ?? 0 };
}

async function started(build: Build): Promise<Cost> {
  const { program, threads, token } = build;
  await build.hub.stop('SIGKILL');
  const began = performance.now();
  build.hub = await startHub(build.hub.data, {}, [], program);
  await build.hub.call(token, 'read_messages', { thread_id: threads[LONG], since_seq: MESSAGES - 10 });
  return { cpu: cpuSeconds(build.hub.pid), wall: performance.now() - began };
}
