import { hold, line } from './report.ts';

/** What one part carries, as it was measured (docs/scale.md says where), and how much of it a hub of so many agents asks for. */
interface Part {
  name: string;
  /** Per second, of one. */
  carries: number;
  /** How many there are. */
  count: number;
  asked: number;
}

const AGENTS = 1_000_000;
/** An agent of a team of coding agents at work: a message in three minutes, one in ten of them online. */
const ONLINE = 0.1;
const POSTS_A_SECOND = (AGENTS * ONLINE) / 180;
const AGENTS_A_WORKSPACE = 20;
/** How many follow what one says, connected somewhere. */
const FOLLOWERS = 4;
const WORKSPACES_A_SHARD = 5_000;
const SHARDS = AGENTS / AGENTS_A_WORKSPACE / WORKSPACES_A_SHARD;
const NODES_A_SHARD = 3;
const MESSAGE_BYTES = 1_400;
const SECONDS_A_DAY = 86_400;
/** Posts come in heaps: the busiest second of an hour has so many times the mean. */
const RUNS = 200;

/** A million agents over shards of workspaces: places workspaces by chance, lets posts come by chance, and looks at the fullest. */
export async function benchScaleModel(): Promise<void> {
  const chance = seeded(21);
  const peaks: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    // Workspaces are not alike: a few are far busier than the rest.
    const load = Array.from({ length: SHARDS }, () => 0);
    let all = 0;
    for (let w = 0; w < SHARDS * WORKSPACES_A_SHARD; w++) {
      const busy = Math.min(200, 1 / Math.max(1e-6, chance()) ** 0.7);
      const shard = Math.floor(chance() * SHARDS);
      load[shard] = (load[shard] ?? 0) + busy;
      all += busy;
    }
    const busiest = Math.max(...load) / all;
    const mean = POSTS_A_SECOND * busiest;
    // In the busiest second of an hour: the tail of Poisson arrivals.
    peaks.push(mean + 4 * Math.sqrt(mean));
  }
  peaks.sort((x, y) => x - y);
  const peak = peaks[Math.floor(RUNS * 0.99)] ?? 0;
  line('posts a second, all agents', `${POSTS_A_SECOND.toFixed(0)} on average over ${SHARDS} shards`);
  line('the busiest shard, busiest second', `${peak.toFixed(0)} posts (p99 of ${RUNS} draws)`);
  const online = AGENTS * ONLINE;
  const parts: Part[] = [
    { name: 'posts through the PostgreSQL of a shard', carries: 3_000, count: 1, asked: peak },
    { name: 'connections of a node', carries: 9_500, count: 1, asked: online / SHARDS / NODES_A_SHARD },
    { name: 'frames a node sends', carries: 14_000, count: NODES_A_SHARD, asked: peak * FOLLOWERS },
    { name: 'words on the NATS of a shard', carries: 200_000, count: 1, asked: peak * NODES_A_SHARD * 2 },
  ];
  for (const { name, carries, count, asked } of parts)
    line(
      name,
      `${asked.toFixed(0)} of ${carries * count}, ${((100 * asked) / carries / count).toFixed(0)} % full`,
    );
  const day = (POSTS_A_SECOND * SECONDS_A_DAY * MESSAGE_BYTES) / 1e9;
  line('disk a day, before a replica', `${day.toFixed(0)} GB, ${(day / SHARDS).toFixed(1)} a shard`);
  hold('scale-model.full', Math.max(...parts.map(({ carries, count, asked }) => asked / carries / count)));
}

/** The same draws in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}
