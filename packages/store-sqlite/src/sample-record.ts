import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Command, Committed } from '@parley/core';

import { openWriter } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { SampleCommands } from './sample-commands.ts';
import type { DatabaseSync } from './sqlite.ts';
import { Batches } from './batches.ts';

export const SAMPLE_THREADS = 3;
export const SAMPLE_SIDES = 2;
const SAMPLE_ASKS = 3;

/** A written record whose connection is still open, and the keyed commands that a client might retry. */
export interface SampleRecord {
  folder: string;
  db: DatabaseSync;
  retries: Command[];
  /** How long the log was after each command that lengthened it. */
  lengths: number[];
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

/** Threads, messages, replies, controls, side channels, asks, agents, cursors, sessions and keys, one transaction each, and a search index that is up to date. */
export function writeSampleRecord(messages: number): SampleRecord {
  const folder = sampleFolder();
  const db = openSample(folder);
  const writer = new Batches(db);
  const sample = new SampleCommands();
  const retries: Command[] = [];
  const lengths: number[] = [];
  const run = (command: Command): Record<string, unknown> => {
    const [reply] = writer.run([command]);
    if (reply?.ok === undefined) throw new Error(JSON.stringify(reply));
    const { result, reached } = reply.ok as Committed;
    const last = reached?.at(-1);
    if (last !== undefined) lengths.push(last.pos);
    return result;
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
  run(sample.control('user', 0, { invite: { participant_id: 'carol', profile: { nickname: 'Caro' } } }));
  run(sample.control('user', 1, { mute: { targets: ['bob'], mode: 'hard' } }));
  run(sample.rename('alice', 2, 'renamed'));
  for (let side = 0; side < SAMPLE_SIDES; side++) {
    const command = sample.openSide('alice', 0, side, `side ${side}`);
    run(command);
    retries.push(command);
  }
  run(sample.closeSide('alice', 0, 0));
  run(sample.register('alice', 'Alice'));
  for (let ask = 0; ask < SAMPLE_ASKS; ask++) {
    const command = sample.ask('alice', ask, `ask ${ask}`);
    run(command);
    retries.push(command);
  }
  run(sample.answer('alice', 0));
  while (writer.idle() !== undefined);
  return { folder, db, retries, lengths, quoted };
}
