import type { Command, Committed } from '@parley/core';
import { takeTurn } from '@parley/core/rules';
import { ParleyError } from '@parley/protocol';
import { FairQueue } from '@parley/store-rows';

import { type Acknowledged, BehindError } from './acknowledged.ts';
import { DIFFERENCE_MS } from './database-clock.ts';
import { isBrief, isServers, refusal, textOf, unknown } from './faults.ts';
import { refuseNewer, schemaState, type SchemaState } from './served.ts';
import { type Connection, sql } from './sql.ts';
import { WorkingSet } from './working-set.ts';

interface Waiting {
  command: Command;
  resolve: (committed: Committed) => void;
  reject: (error: unknown) => void;
}

export interface BatchOptions {
  /** Makes a connection of its own; called anew when the last one failed. */
  connect: () => Promise<Connection>;
  onFault: (message: string) => void;
  onRecovery: () => void;
  acknowledged: Acknowledged;
  /** So long the commands of one transaction may take. */
  batchMs: number;
}

/** So many commands become durable together, at most. */
const MOST = 256;
/** How much may wait before more is refused. */
const MOST_WAITING = 10_000;
/** How often a transaction is tried of which nothing was written. */
const TRIES = 3;
const PAUSE_MS = 50;

type Outcome = { ok: Committed } | { error: unknown };

/**
 * Makes commands durable, one transaction at a time: what comes while one is under way goes into the next. So the
 * batches of a node grow while others hold the lock of its workspaces, and the total does not fall with the nodes.
 */
export class Batches {
  readonly #options: BatchOptions;
  /** In a line for each workspace. */
  readonly #waiting = new FairQueue<Waiting>();
  #connection: Connection | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;
  #fault: string | undefined;
  #isBehind = false;

  constructor(options: BatchOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Why nothing could be written the last time it was tried. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** The database is there again: whether it takes writes the next one tells. */
  doubtFault(): void {
    if (this.#fault === undefined || this.#isBehind) return;
    this.#fault = undefined;
    this.#options.onRecovery();
  }

  transact(command: Command): Promise<Committed> {
    if (this.#isClosed) return Promise.reject(new ParleyError('UNAVAILABLE', 'the store is closed'));
    if (this.#waiting.size >= MOST_WAITING)
      return Promise.reject(
        new ParleyError('UNAVAILABLE', 'the hub is overloaded; retry', { retry_after_ms: 1_000 }),
      );
    return new Promise((resolve, reject) => {
      this.#waiting.push(command.caller.workspace_id, { command, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
    await this.#connection?.close();
  }

  async #run(): Promise<void> {
    // Whoever comes in this turn of the loop goes along.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const batch = this.#waiting.take(MOST);
      const outcomes = await this.#commit(batch.map(({ item }) => item.command));
      this.#waiting.giveBack(batch.slice(outcomes.length));
      for (const [i, outcome] of outcomes.entries()) {
        if ('ok' in outcome) batch[i]?.item.resolve(outcome.ok);
        else batch[i]?.item.reject(outcome.error);
      }
    }
    this.#running = undefined;
  }

  /** The outcomes of the commands that had their turn: the first, and what else the time allows. */
  async #commit(commands: readonly Command[]): Promise<Outcome[]> {
    for (let tries = 1; ; tries++) {
      const attempt = { isCommitting: false };
      try {
        const outcomes = await this.#transaction(commands, attempt);
        if (this.#fault !== undefined) this.#options.onRecovery();
        this.#fault = undefined;
        this.#isBehind = false;
        return outcomes;
      } catch (error) {
        await this.#leave();
        // Told once; that the record is an older one is told also where a lost connection was told before.
        const isNews = this.#fault === undefined || (error instanceof BehindError && !this.#isBehind);
        if (isNews) this.#options.onFault(textOf(error));
        this.#fault = textOf(error);
        if (error instanceof BehindError) {
          this.#isBehind = true;
          return commands.map(() => ({ error: error.forCallers() }));
        }
        const again = !attempt.isCommitting && isBrief(error) && tries < TRIES && !this.#isClosed;
        if (!again) {
          const refused = attempt.isCommitting ? unknown(error) : refusal(error);
          return commands.map(() => ({ error: refused }));
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries));
      }
    }
  }

  async #transaction(commands: readonly Command[], attempt: { isCommitting: boolean }): Promise<Outcome[]> {
    const { ask, command: say } = (this.#connection ??= await this.#options.connect());
    const set = new WorkingSet(ask);
    const [, [schema]] = await Promise.all([
      ask(sql`BEGIN`),
      ask<SchemaState>(schemaState),
      set.load(commands),
    ]);
    // A node that was stopped for a while may not have seen that another is newer.
    if (schema !== undefined) refuseNewer(schema);
    for (const [workspaceId, pos] of set.counts) this.#options.acknowledged.compare(workspaceId, pos);
    const end = performance.now() + this.#options.batchMs;
    const outcomes: Outcome[] = [];
    for (const command of commands) {
      if (outcomes.length > 0 && performance.now() >= end) break;
      takeTurn(command, set.lockedAt, DIFFERENCE_MS);
      try {
        outcomes.push({ ok: await set.attempt(command) });
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        outcomes.push({ error });
      }
    }
    await set.complete();
    attempt.isCommitting = true;
    // In one piece: where a write is refused the commit that follows it rolls back.
    const [written, committed] = await Promise.allSettled([set.flush(), say(sql`COMMIT`)]);
    if (committed.status === 'fulfilled' && committed.value === 'COMMIT') {
      for (const [workspaceId, pos] of set.counts) this.#options.acknowledged.reached(workspaceId, pos);
      return outcomes;
    }
    // The server has said no, to a write or to the commit as a whole: it did not come to be.
    const isRefused =
      committed.status === 'fulfilled' || (written.status === 'rejected' && isServers(written.reason));
    attempt.isCommitting = !isRefused;
    if (written.status === 'rejected') throw written.reason;
    throw committed.status === 'rejected' ? committed.reason : new Error('the transaction was rolled back');
  }

  /** After an error nobody knows what a connection is in the midst of: the next transaction gets another. */
  async #leave(): Promise<void> {
    const left = this.#connection;
    this.#connection = undefined;
    await left?.close().catch(() => {});
  }
}
