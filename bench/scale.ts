import { createHash } from 'node:crypto';

import { Client } from 'pg';

import { endFile } from '../tests/harness/at-file-end.ts';
import { type NatsServer, startNats } from '../tests/harness/start-nats.ts';
import { type PostgresServer, startPostgres } from '../tests/harness/start-postgres.ts';
import { installTestTools } from '../tests/tools/install.mjs';
import { freshFolder, type HubProcess, removeFolder, startHub } from './hub-process.ts';
import { cpuSeconds, load } from './load.ts';
import { hold, line } from './report.ts';

const MS = Number(process.env['BENCH_MS'] ?? 4_000);
/** How long the log is at the end of the last part; 10⁶ takes some minutes. */
const MESSAGES = Number(process.env['BENCH_MESSAGES'] ?? 1_000_000);
const CONNECTIONS = 256;
const SAMPLES = 200;
const BATCH = 256;
const TEXT = 'x'.repeat(300);

interface Measured {
  /** Posts a second, of all nodes. */
  rate: number;
  /** Of the nodes, without the database. */
  cpuUs: number;
}

/** Posts on SQLite, on one, two and three nodes over PostgreSQL, and what they cost as the record grows. */
export async function benchScale(): Promise<void> {
  await installTestTools();
  const [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
  const folders: string[] = [];
  const hubs: HubProcess[] = [];
  const open = async (settings: Record<string, string> = {}): Promise<HubProcess> => {
    const data = freshFolder();
    folders.push(data);
    const hub = await startHub(data, settings);
    hubs.push(hub);
    return hub;
  };
  const node = (): Promise<HubProcess> => open({ store: postgres.url, nats: nats.url });
  try {
    const alone = await open();
    const sqlite = await posts([alone], await threadsOf(alone, 20));
    tell('SQLite, one process', sqlite);
    await alone.stop();
    hubs.pop();
    await nodes(postgres, node);
    await news(hubs);
    await flat(hubs[0] ?? (await node()));
  } finally {
    await Promise.all(hubs.map((hub) => hub.stop()));
    for (const folder of folders) removeFolder(folder);
    await close(postgres, nats);
  }
}

/** One, two and three nodes, each beside a batched insert of the same rows in the same minute. */
async function nodes(postgres: PostgresServer, node: () => Promise<HubProcess>): Promise<void> {
  const running: HubProcess[] = [];
  const totals: number[] = [];
  for (let count = 1; count <= 3; count++) {
    running.push(await node());
    const [first] = running;
    if (first === undefined) return;
    const threads = await threadsOf(first, 20);
    await posts(running, threads, MS / 2);
    const reference = await inserts(postgres);
    const measured = await posts(running, threads);
    totals.push(measured.rate);
    tell(`PostgreSQL, ${count} node${count === 1 ? '' : 's'}`, measured, reference);
    if (count === 1) hold('scale.insert', measured.rate / reference);
  }
  hold('scale.three', (totals[2] ?? 0) / (totals[0] ?? 1));
}

/** From a post at one node to a follower at another. */
async function news(hubs: readonly HubProcess[]): Promise<void> {
  const [a, b] = hubs;
  if (a === undefined || b === undefined) return;
  const { token, ids } = await threadsOf(a, 1);
  const [thread_id = ''] = ids;
  const took: number[] = [];
  for (let seq = 0; seq < SAMPLES; seq++) {
    const waiting = b.call(token, 'wait_for_messages', { thread_id, since_seq: seq, timeout_ms: 10_000 });
    await new Promise((resolve) => setTimeout(resolve, 10));
    const begun = performance.now();
    void a.call(token, 'post_message', { thread_id, schema_version: 1, body: TEXT });
    await waiting;
    took.push(performance.now() - begun);
  }
  took.sort((x, y) => x - y);
  const at = (part: number): number => took[Math.floor(took.length * part)] ?? 0;
  line('post at A to follower at B', `p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms`);
  hold('scale.news', at(0.99));
}

/** The CPU of a post with few and with many threads, workspaces and messages. */
async function flat(hub: HubProcess): Promise<void> {
  const cost = async (threads: Threads): Promise<number> => {
    await posts([hub], threads, MS / 2);
    const rounds = [await posts([hub], threads), await posts([hub], threads), await posts([hub], threads)];
    return rounds.map(({ cpuUs }) => cpuUs).toSorted((x, y) => x - y)[1] ?? 0;
  };
  const compare = (what: string, few: number, many: number): void =>
    hold('scale.flat', many / few, {
      what,
      figure: `${few.toFixed(0)} and ${many.toFixed(0)} µs a post, ${(many / few).toFixed(2)} times`,
    });
  const few = await cost(await threadsOf(hub, 10));
  compare('1,000 threads against 10', few, await cost(await threadsOf(hub, 1_000)));
  const one = await cost(await threadsOf(hub, 100));
  compare('100 workspaces against one', one, await cost(await threadsOf(hub, 1, 100)));
  const short = await threadsOf(hub, 20);
  const early = await cost(short);
  for (let said = 0; said < MESSAGES;) said += (await posts([hub], short, 10_000)).rate * 10;
  compare(`${MESSAGES.toLocaleString('en')} messages more`, early, await cost(short));
}

interface Threads {
  token: string;
  ids: string[];
  /** Where there are several workspaces, the token of each thread. */
  tokens: string[];
}

async function threadsOf(hub: HubProcess, count: number, workspaces = 1): Promise<Threads> {
  const ids: string[] = [];
  const tokens: string[] = [];
  for (let w = 0; w < workspaces; w++) {
    const token = workspaces === 1 ? hub.token('bench') : hub.token('bench', 'orchestrator', `w${w}`);
    for (let i = 0; i < count; i++) {
      const title = `bench ${i}`;
      ids.push((await hub.call<{ thread_id: string }>(token, 'create_thread', { title })).thread_id);
      tokens.push(token);
    }
  }
  return { token: tokens[0] ?? '', ids, tokens };
}

/** Posts into the threads at all of the nodes at once. */
async function posts(hubs: readonly HubProcess[], threads: Threads, ms = MS): Promise<Measured> {
  const byToken = new Map<string, string[]>();
  for (const [i, thread_id] of threads.ids.entries()) {
    const token = threads.tokens[i] ?? threads.token;
    const body = JSON.stringify({ thread_id, schema_version: 1, body: TEXT, idempotency_key: '{n}' });
    byToken.set(token, [...(byToken.get(token) ?? []), body]);
  }
  const before = hubs.map(({ pid }) => cpuSeconds(pid));
  const reports = await Promise.all(
    hubs.flatMap(({ port }) =>
      [...byToken].map(([token, bodies]) =>
        load({
          host: '127.0.0.1',
          port,
          connections: Math.max(1, Math.floor(CONNECTIONS / byToken.size)),
          ms,
          head: `POST /v1/post_message HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\nauthorization: Bearer ${token}\r\n`,
          bodies,
          seed: `${port}-${Math.random()}`,
        }),
      ),
    ),
  );
  const done = reports.reduce((sum, { requests, errors }) => sum + requests - errors, 0);
  const errors = reports.reduce((sum, one) => sum + one.errors, 0);
  if (errors > 0) throw new Error(`${errors} posts were refused`);
  const cpu = hubs.reduce((sum, { pid }, i) => sum + cpuSeconds(pid) - (before[i] ?? 0), 0);
  return { rate: (done / ms) * 1_000, cpuUs: (cpu * 1e6) / done };
}

/** The same rows straight into PostgreSQL, by batches, one transaction each: what there is to be had. */
async function inserts({ url }: PostgresServer): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    'CREATE TABLE IF NOT EXISTS bare (thread_id text, seq int, pos bigint, hash text, json text, key text UNIQUE, PRIMARY KEY (thread_id, seq))',
  );
  await client.query('TRUNCATE bare');
  const until = performance.now() + MS;
  let pos = 0;
  while (performance.now() < until) {
    const rows = Array.from({ length: BATCH }, () => ++pos);
    await client.query(
      'INSERT INTO bare SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[], $4::text[], $5::text[], $6::text[])',
      [
        rows.map((n) => `th_${n % 20}`),
        rows,
        rows,
        rows.map((n) => createHash('sha256').update(`${n}`).digest('hex')),
        rows.map((n) => JSON.stringify({ seq: n, sender_agent_id: 'bench', body: TEXT })),
        rows.map((n) => `bench-${n}`),
      ],
    );
  }
  await client.end();
  return (pos / MS) * 1_000;
}

function tell(what: string, { rate, cpuUs }: Measured, reference?: number): void {
  const beside =
    reference === undefined
      ? ''
      : `, ${(rate / reference).toFixed(2)} of ${Math.round(reference)}/s inserted in batches`;
  line(what, `${Math.round(rate)}/s, ${cpuUs.toFixed(0)} µs CPU a post${beside}`);
}

async function close(postgres: PostgresServer, nats: NatsServer): Promise<void> {
  await nats.kill();
  await postgres.close();
  await endFile();
}
