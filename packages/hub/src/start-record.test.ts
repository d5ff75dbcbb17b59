import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { callerOf, creating, posting } from '@parley/core/store-contract';
import { DATABASE_FILE } from '@parley/store-sqlite';
import { expect, onTestFinished, test } from 'vitest';

import { ConfigSchema } from './config/schema.ts';
import { openRecord } from './start-record.ts';

const POSTS = 200;

/** How many transactions stand in a write-ahead log that was never begun anew: the last frame of each says so. */
function transactionsIn(path: string): number {
  const wal = readFileSync(path);
  const frame = 24 + wal.readUInt32BE(8);
  const starts = Array.from({ length: Math.floor((wal.length - 32) / frame) }, (_, i) => 32 + i * frame);
  const isNow = (at: number): boolean => wal.subarray(at + 8, at + 16).equals(wal.subarray(16, 24));
  return starts.filter((at) => isNow(at) && wal.readUInt32BE(at + 4) !== 0).length;
}

test('limits.batch bounds how many writes share one transaction', async () => {
  const data = mkdtempSync(join(tmpdir(), 'parley-record-'));
  // The record sets the mask of its process; this one goes on with other tests.
  const mask = process.umask();
  onTestFinished(() => {
    process.umask(mask);
    rmSync(data, { recursive: true, force: true });
  });
  const transactions = async (batch: number): Promise<number> => {
    const folder = join(data, String(batch));
    const config = ConfigSchema.parse({ data: folder, limits: { batch } });
    const patience = { stuckAfterMs: 1e6, offlineAfterMs: 1e6, unreadStuckMs: 1e6, returnMs: 1e6 };
    const nothing = (): void => {};
    const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
    const record = await openRecord(config, patience, log, (error) => {
      throw error;
    });
    const alice = callerOf('alice', 'w');
    await record.store.transact(creating('t', alice));
    const wal = join(folder, `${DATABASE_FILE}-wal`);
    const before = transactionsIn(wal);
    await Promise.all(
      Array.from({ length: POSTS }, (_, i) => record.store.transact(posting('t', `${i}`, alice))),
    );
    const found = transactionsIn(wal) - before;
    await record.close();
    return found;
  };
  expect(await transactions(5)).toBeGreaterThanOrEqual(POSTS / 5);
  expect(await transactions(512)).toBeLessThan(POSTS / 5);
});
