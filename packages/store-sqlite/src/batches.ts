import { Checkpoints } from './checkpoints.ts';
import { assertDurable, BUSY_MS } from './open-database.ts';
import type { DatabaseSync } from './sqlite.ts';
import { failed, isBusy, isOfDisk, refusal } from './storage-fault.ts';
import { Tallies } from './tallies.ts';
import { ADVANCE_INDEX, type Notice, REMAKE_INDEX, type Reply, type WriterCall } from './thread-protocol.ts';
import { Upkeep } from './upkeep.ts';
import { Writer } from './writer.ts';

/** How soon it is tried again what did not work, when nobody writes meanwhile. */
const AGAIN_MS = 1_000;

/** Makes batches of commands durable, one transaction each, with the upkeep in between; lives in the writer's thread. */
export class Batches {
  readonly #db: DatabaseSync;
  readonly #tallies: Tallies;
  readonly #writer: Writer;
  readonly #upkeep: Upkeep;
  readonly #checkpoints: Checkpoints;
  readonly #tell: (notice: Notice) => void;
  #isAsserted = false;
  /** The open transaction has changed the index. */
  #isCarrying = false;
  #failure: string | undefined;
  /** What does not work now and may work again by itself. */
  #stuck: 'writing' | 'folding' | undefined;

  /** `tell` hears of what nobody has asked for. */
  constructor(db: DatabaseSync, tell: (notice: Notice) => void = () => {}) {
    this.#db = db;
    this.#tell = tell;
    this.#tallies = new Tallies(db);
    this.#writer = new Writer(db, this.#tallies, (...entry) => this.#upkeep.offer(...entry));
    this.#upkeep = new Upkeep(db, this.#tallies, (positions) =>
      tell({ fault: `damaged entries at positions ${positions.join(', ')}` }),
    );
    this.#checkpoints = new Checkpoints(db, (pages) =>
      tell({
        fault: `the write-ahead log has grown to ${pages} pages: somebody reads the database for long`,
      }),
    );
  }

  /**
   * The commands of a batch become durable together, the first of them and what else its time allows: the answers are
   * those of the commands that had their turn. A refused one leaves no trace and harms no other.
   */
  run(commands: readonly WriterCall[], forMs = Infinity, isAgain = false): Reply[] {
    const replies: Reply[] = [];
    if (this.#failure !== undefined) return commands.map(() => failed(this.#failure ?? ''));
    try {
      if (this.#stuck === 'folding') this.#checkpoints.fold();
      this.#upkeep.settle();
      this.#db.exec('BEGIN IMMEDIATE');
      // Only now is it known when: the lock may have been another's for seconds.
      const at = Date.now();
      const end = performance.now() + forMs;
      for (const command of commands) {
        replies.push(this.#answer(command, at));
        if (performance.now() >= end) break;
      }
      this.#writer.flush();
      if (this.#upkeep.isDue(this.#writer.position)) this.#carry();
      this.#commit();
      return replies;
    } catch (error) {
      if (!isAgain && this.#setIndexAside(error)) return this.run(commands, forMs, true);
      const reply = this.#abandon(error);
      this.#stuck ??= 'writing';
      // What had no turn yet was not harmed; where none had, nobody is kept waiting for one.
      const had = replies.length === 0 ? commands : replies;
      return had.map(() => reply);
    }
  }

  /** Looks after the write-ahead log, when those who wrote have their answers. */
  fold(): void {
    if (this.#failure !== undefined || this.#stuck !== undefined) return;
    try {
      this.#checkpoints.look();
    } catch (error) {
      this.#report(this.#abandon(error));
      this.#stuck = 'folding';
    }
  }

  /** Begins to forget the idempotency keys from before a moment. */
  forgetKeys(before: number): void {
    this.#upkeep.forgetKeys(before);
  }

  /** Does a little of what can wait, while nobody writes; says how soon it wants to go on, if at all. */
  idle(): number | undefined {
    const isStuck = this.#stuck !== undefined;
    if (this.#failure !== undefined) return undefined;
    if (!isStuck && !this.#upkeep.isBehind(this.#writer.position)) return undefined;
    try {
      // Whoever comes to write must not wait for us to wait for somebody else.
      this.#db.exec('PRAGMA busy_timeout = 0');
      if (this.#stuck === 'folding') this.#checkpoints.fold();
      this.#upkeep.settle();
      this.#db.exec('BEGIN IMMEDIATE');
      if (isStuck) this.#upkeep.probe();
      else this.#carry();
      this.#commit();
    } catch (error) {
      if (this.#setIndexAside(error)) return AGAIN_MS;
      const reply = this.#abandon(error);
      // Somebody who writes would have waited for the lock: it is no trouble yet.
      const isNews = !isStuck && !isBusy(error);
      if (isNews || reply.severity === 'fatal') this.#report(reply);
      if (isNews) this.#stuck = 'writing';
      return reply.severity === 'fatal' ? undefined : AGAIN_MS;
    } finally {
      this.#db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    }
    return this.#upkeep.isBehind(this.#writer.position) ? 1 : undefined;
  }

  /** Folds the WAL into the one file, where nobody reads it and no fault forbids it, and lets go of both. */
  close(): void {
    try {
      if (this.#failure === undefined)
        this.#db.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      this.#tell({ fault: `the write-ahead log stays for the next start: ${textOf(error)}` });
    } finally {
      this.#db.close();
    }
  }

  #answer(call: WriterCall, at: number): Reply {
    if (call === REMAKE_INDEX) this.#upkeep.doubtIndex();
    else if (call === ADVANCE_INDEX) this.#upkeep.hasten();
    else return this.#writer.attempt(call, at);
    return { ok: null };
  }

  #carry(): void {
    this.#isCarrying = true;
    this.#upkeep.slice();
  }

  #commit(): void {
    this.#tallies.flush();
    this.#db.exec('COMMIT');
    this.#isCarrying = false;
    this.#writer.keep();
    this.#upkeep.keep();
    if (!this.#isAsserted) assertDurable(this.#db);
    this.#isAsserted = true;
    if (this.#stuck !== undefined) this.#tell({ recovered: true });
    this.#stuck = undefined;
  }

  /**
   * Damage of the index costs nobody a write: what was begun is rolled back, and the index made anew; false where
   * something else has failed. SQLite has many names for it, and tells of some of it only at the commit.
   */
  #setIndexAside(error: unknown): boolean {
    if (!this.#isCarrying || isOfDisk(error)) return false;
    this.#undo();
    this.#upkeep.doubtIndex();
    this.#tell({ fault: `the index of words is damaged and made anew: ${textOf(error)}` });
    return this.#failure === undefined;
  }

  /** A full disk and a foreign lock are waited out; after any other storage error nothing is acknowledged until a restart. */
  #abandon(error: unknown): Reply {
    const reply = refusal(error);
    if (reply.severity === 'fatal') this.#failure = reply.fault;
    return this.#undo() ? reply : failed(this.#failure ?? '');
  }

  /** Rolls back; where even that fails, nothing is written any more. */
  #undo(): boolean {
    this.#isCarrying = false;
    this.#tallies.forget();
    this.#writer.drop();
    this.#upkeep.drop();
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      return true;
    } catch (error) {
      this.#failure ??= textOf(error);
      return false;
    }
  }

  #report({ fault = '', severity = 'fatal' }: Reply): void {
    this.#tell({ fault, severity });
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
