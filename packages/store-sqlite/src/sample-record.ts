import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Command } from '@parley/core';

import { openWriter } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { SampleCommands } from './sample-commands.ts';
import type { DatabaseSync } from './sqlite.ts';
import { Writer } from './writer.ts';

export const SAMPLE_THREADS = 3;

/** A written record whose connection is still open, and the keyed commands that a client might retry. */
export interface SampleRecord {
  folder: string;
  db: DatabaseSync;
  retries: Command[];
  /** The message that others reply to. */
  quoted: string;
}

/** A private folder; the caller removes it. */
export function sampleFolder(): string {
  return mkdtempSync(join(tmpdir(), 'parley-store-'));
}

/** Removes what a test has left. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** A connection to a record, as the hub opens it. */
export function openSample(folder: string): DatabaseSync {
  return openWriter(join(folder, DATABASE_FILE), () => {});
}

/** Threads, messages, replies, cursors, sessions and keys, one transaction each, and a search index that is up to date. */
export function writeSampleRecord(messages: number): SampleRecord {
  const folder = sampleFolder();
  const db = openSample(folder);
  const writer = new Writer(db);
  const sample = new SampleCommands();
  const retries: Command[] = [];
  const run = (command: Command): Record<string, unknown> => {
    const [reply] = writer.run([command]);
    if (reply?.ok === undefined) throw new Error(JSON.stringify(reply));
    return (reply.ok as { result: Record<string, unknown> }).result;
  };
  for (let thread = 0; thread < SAMPLE_THREADS; thread++) run(sample.create(thread, ['alice', 'bob']));
  const quoted = String(run(sample.post('alice', 0, 'quoted'))['message_id']);
  for (let i = 0; i < messages; i++) {
    const thread = i % SAMPLE_THREADS;
    const command = sample.post(i % 2 === 0 ? 'alice' : 'bob', thread, `word number ${i}`, {
      key: `key ${i}`,
      ...(thread === 0 ? { replyTo: quoted } : {}),
    });
    run(command);
    if (i % 5 === 0) retries.push(command);
  }
  for (const agent of ['alice', 'bob']) {
    run(sample.heartbeat(agent));
    for (let thread = 0; thread < SAMPLE_THREADS; thread++) run(sample.ack(agent, thread, 2 + thread));
  }
  while (writer.idle(0, 0).more);
  return { folder, db, retries, quoted };
}
