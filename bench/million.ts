import { freshFolder, type HubProcess, removeFolder, startHub } from './hub-process.ts';
import { load, residentMb } from './load.ts';
import { preparePosts } from './posts.ts';
import { hold, line } from './report.ts';

/** A record of a million messages: memory after posting it, time to start again, pages from a long thread and a short one. */
export async function benchMillion(): Promise<void> {
  const wanted = Number(process.env['BENCH_MESSAGES'] ?? 1_000_000);
  const data = freshFolder();
  let hub = await startHub(data);
  try {
    const { head, token, threads } = await preparePosts(hub);
    const [long = '', short = ''] = threads;
    await fill(hub, head, short, 1_000);
    await fill(hub, head, long, wanted);
    hold('million.memory', residentMb(hub.pid), { what: `memory after ${wanted} posts` });
    await comparePages(hub, token, short, long);
    await hub.stop('SIGKILL');
    const started = performance.now();
    hub = await startHub(data);
    await hub.call(token, 'read_messages', { thread_id: long, since_seq: wanted - 10 });
    hold('million.start', (performance.now() - started) / 1_000);
    line('memory after the start', `${residentMb(hub.pid).toFixed(0)} MB resident`);
  } finally {
    await hub.stop();
    removeFolder(data);
  }
}

/** Posts so many messages to one thread. */
export async function fill(hub: HubProcess, head: string, thread: string, wanted: number): Promise<void> {
  const body = JSON.stringify({
    thread_id: thread,
    schema_version: 1,
    body: 'x'.repeat(300),
    idempotency_key: '{n}',
  });
  let posted = 0;
  for (let round = 0; posted < wanted; round++) {
    const ms = Math.min(20_000, Math.max(200, ((wanted - posted) / 12_000) * 1_000));
    const report = await load({
      host: '127.0.0.1',
      port: hub.port,
      connections: 128,
      ms,
      head,
      bodies: [body],
      seed: `f${wanted}-${round}`,
    });
    posted += report.requests - report.errors;
    process.stderr.write(`\r${posted} of ${wanted} posted `);
  }
  process.stderr.write('\n');
}

async function comparePages(hub: HubProcess, token: string, short: string, long: string): Promise<void> {
  const p50s: number[] = [];
  for (const [name, thread, since] of [
    ['a thread of 10³', short, 500],
    ['a thread of 10⁶', long, 500_000],
    ['a thread of 10³', short, 500],
    ['a thread of 10⁶', long, 500_000],
  ] as const) {
    const head = pageHead(hub.port, token, thread, since);
    const report = await load({
      host: '127.0.0.1',
      port: hub.port,
      connections: 4,
      ms: 3_000,
      head,
      bodies: [''],
      seed: 'p',
    });
    p50s.push(report.p50);
    line(
      `page of 50 from ${name}`,
      `p50 ${report.p50.toFixed(2)} ms, p99 ${report.p99.toFixed(2)} ms, errors ${report.errors}`,
    );
  }
  const [a = 1, b = 1, c = 1, d = 1] = p50s;
  hold('million.page', (b + d) / (a + c));
}

/** The request for a page of 50. */
export function pageHead(port: number, token: string, thread: string, since: number): string {
  return `GET /v1/threads/${thread}/messages?since_seq=${since}&limit=50 HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n`;
}
