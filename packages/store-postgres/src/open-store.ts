import type { Command, Committed, StateFiles, ResultOf, Store } from '@parley/core';
import { ParleyError } from '@parley/protocol';

import { Acknowledged, type AcknowledgedNote } from './acknowledged.ts';
import { Batches } from './batches.ts';
import { createDatabaseClock } from './database-clock.ts';
import { textOf } from './faults.ts';
import { openStateFiles } from './state-files.ts';
import { createKeySweep } from './key-sweep.ts';
import { listRecords } from './list-records.ts';
import { migrate } from './migrate.ts';
import { Reader } from './reader.ts';
import { MOVE_NAME } from './record-target.ts';
import { EVERY_WORKSPACE, type Scope, settingOf } from './scope.ts';
import { type Ask, openConnection, openPool, sql } from './sql.ts';
import { startWatch } from './watch.ts';

export interface PostgresOptions {
  /** Where the database is: `postgres://…`. */
  url: string;
  /** The schema that holds the record. */
  schema?: string;
  onFault: (message: string) => void;
  /** Hears what whoever runs the database should know. */
  onNotice?: (message: string) => void;
  /** Writes work again, after a fault. */
  onRecovery?: () => void;
  /** How far this node acknowledged before; without it a restored database is known only while the node runs. */
  note?: AcknowledgedNote;
  /** So long the commands of one transaction may take: then they are made durable, and others have a turn. */
  batchMs?: number;
}

const BATCH_MS = 50;

/** How many connections answer questions. */
const READERS = 4;

/** The log and what is folded from it, with the files that its nodes share, in PostgreSQL: any number of nodes may open it at once. */
export async function openPostgres({
  url,
  schema = 'parley',
  onFault,
  onNotice = () => {},
  onRecovery = () => {},
  note = { read: () => ({}), write: () => {} },
  batchMs = BATCH_MS,
}: PostgresOptions): Promise<{ store: Store; stateFiles: StateFiles; now: () => number }> {
  await migrate(url, schema);
  const pool = openPool(url, schema, READERS);
  const { close } = pool;
  /** For all but the look that tells. */
  const served =
    (ask: Ask): Ask =>
    async (statement) => {
      watch.refuseNewer();
      return ask(statement);
    };
  const ask = served(pool.ask);
  const within = (scope: Scope): Ask => served(pool.within(settingOf(scope, 'further notice')));
  const everywhere = within(EVERY_WORKSPACE);
  const acknowledged = new Acknowledged(note);
  const connect = () => openConnection(url, schema, { writes: true });
  const clock = createDatabaseClock();
  const batches = new Batches({
    connect,
    onFault,
    onRecovery() {
      watch.clear();
      onRecovery();
    },
    acknowledged,
    batchMs,
  });
  const watch = startWatch(pool.ask, clock, () => batches.doubtFault());
  const reader = new Reader(within);
  const keys = createKeySweep(everywhere, (error) => onFault(textOf(error)));
  const transact = <C extends Command>(command: C): Promise<Committed<ResultOf<C['type']>>> =>
    // The rule of a command answers as its contract says.
    batches.transact(structuredClone(command)) as Promise<Committed<ResultOf<C['type']>>>;

  const store: Store = {
    transact,
    page: (query) => reader.page(query),
    tail: (query) => reader.tail(query),
    cursors: (...about) => reader.cursors(...about),
    reading: (...about) => reader.reading(...about),
    references: (...about) => reader.references(...about),
    threads: (query) => reader.threads(query),
    countThreads: (query) => reader.countThreads(query),
    agents: (query) => reader.agents(query),
    records: (query) =>
      listRecords(query.workspace_id === undefined ? everywhere : within([query.workspace_id]), query),
    workspace: (query) => reader.workspace(query),
    position: (workspaceId) => reader.position(workspaceId),
    heads: (query) => reader.heads(query),
    size: () => reader.size(),
    // Here every workspace was counted by itself from the first entry on.
    placeOf: async (_workspaceId, cursor) => cursor,
    search: (query) => reader.search(query),
    readable: (query) => reader.readable(query),
    // The words are written with their message.
    searchLag: async () => ({ entries: 0 }),
    forgetKeys: (before) => keys.forget(before),
    health() {
      const { waiting } = batches;
      const fault = watch.fault ?? batches.fault;
      return fault === undefined ? { writable: true, waiting } : { writable: false, reason: fault, waiting };
    },
    async close() {
      watch.close();
      await keys.close();
      await batches.close();
      acknowledged.close();
      await close();
    },
  };
  try {
    await acknowledged.check(everywhere);
    await refuseHalf(ask);
    if (await seesThroughWalls(ask)) onNotice(THROUGH_WALLS);
    // They close with the store, whose connections they use.
    const stateFiles = await openStateFiles({ ...pool, ask, say: served(pool.say), close: async () => {} });
    await watch.look();
    return { store, stateFiles, now: () => clock.now() };
  } catch (error) {
    await store.close();
    throw error;
  }
}

const THROUGH_WALLS =
  'the role of the database is a superuser or bypasses row-level security: the wall between workspaces that the database holds does not hold for it; give Parley a role of its own';

async function seesThroughWalls(ask: Ask): Promise<boolean> {
  const [role] = await ask<{ through: boolean }>(
    sql`SELECT rolsuper OR rolbypassrls AS through FROM pg_roles WHERE rolname = current_user`,
  );
  return role?.through === true;
}

/** A record that is not whole yet serves nobody. */
async function refuseHalf(ask: Ask): Promise<void> {
  const [half] = await ask<{ text: string }>(sql`SELECT text FROM kept_files WHERE name = ${MOVE_NAME}`);
  if (half === undefined) return;
  // Written by this program, whole.
  const { from } = JSON.parse(half.text) as { from: string };
  throw new ParleyError(
    'UNAVAILABLE',
    `the move of the record from ${from} is not complete: run parley migrate again`,
  );
}
