import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import type { OutputOf } from '@parley/protocol';
import { sqliteModule } from '@parley/sqlite';

import { BIN, freshFolder, type HubProcess, removeFolder, startHub } from './hub-process.ts';
import { fill } from './million.ts';
import { preparePosts } from './posts.ts';
import { hold, line } from './report.ts';

const THREADS_GONE = 'DELETE FROM heads; DELETE FROM participants; DELETE FROM threads';
const INDEX_GONE = "INSERT INTO search (search) VALUES ('delete-all')";

/** A record of a million messages whose derived rows are gone: the start that makes them anew, and the repair on demand. */
export async function benchRebuild(): Promise<void> {
  const wanted = Number(process.env['BENCH_MESSAGES'] ?? 1_000_000);
  const data = freshFolder();
  try {
    const hub = await startHub(data);
    const { head, threads } = await preparePosts(hub);
    const [thread = ''] = threads;
    await fill(hub, head, thread, wanted);
    const operator = hub.token('ann', 'operator');
    await untilIndexed(hub, operator);
    await hub.stop();

    const sound = await timedStart(data, operator, thread, 'nothing amiss');
    hold('rebuild.start', sound, { what: 'a start with nothing amiss' });
    const reading = timed(() => parley(data, 'export', '--out', join(data, 'record.ndjson')));
    line('an export, which reads all of it', `${reading.toFixed(1)} s`);
    for (const [what, sql] of [
      ['threads, heads and participants gone', THREADS_GONE],
      ['the index of words gone', INDEX_GONE],
    ] as const) {
      change(data, sql);
      const took = await timedStart(data, operator, thread, what);
      line(`a start, ${what}`, `${took.toFixed(1)} s, ${(took / reading).toFixed(2)} of the export`);
    }
    change(data, `${THREADS_GONE}; ${INDEX_GONE}`);
    const repair = timed(() => parley(data, 'doctor', '--repair', '--json'));
    line('doctor --repair, all of it gone', `${repair.toFixed(1)} s, ${(repair / reading).toFixed(2)} of it`);
    const again = await timedStart(data, operator, thread, 'repaired');
    hold('rebuild.start', again, { what: 'the start after a repair' });
  } finally {
    removeFolder(data);
  }
}

/** Seconds from the start of a hub to a page of its longest thread; then the index is awaited and the hub stopped. */
async function timedStart(data: string, operator: string, thread: string, what: string): Promise<number> {
  const started = performance.now();
  const hub = await startHub(data);
  await hub.call(operator, 'read_messages', { thread_id: thread, since_seq: 0 });
  const took = seconds(started);
  await untilIndexed(hub, operator);
  const whole = seconds(started);
  if (whole > took + 1) line(`the index again, ${what}`, `${whole.toFixed(1)} s after the start`);
  await hub.stop();
  return took;
}

async function untilIndexed(hub: HubProcess, operator: string): Promise<void> {
  for (;;) {
    const { search } = await hub.call<OutputOf<'describe_hub'>>(operator, 'describe_hub', {});
    if (search.behind === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** What somebody else does to the database while the hub is stopped. */
function change(data: string, sql: string): void {
  const db = new (sqliteModule().DatabaseSync)(join(data, 'parley.db'));
  db.enableDefensive(false);
  db.exec(`PRAGMA foreign_keys = OFF; ${sql}`);
  db.close();
}

function parley(data: string, ...args: string[]): void {
  execFileSync(process.execPath, [BIN, ...args, '--data', data], { stdio: 'ignore' });
}

function timed(run: () => void): number {
  const started = performance.now();
  run();
  return seconds(started);
}

function seconds(since: number): number {
  return (performance.now() - since) / 1_000;
}
