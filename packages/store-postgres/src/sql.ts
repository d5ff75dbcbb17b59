import { userInfo } from 'node:os';

import { ParleyError } from '@parley/protocol';
import { Client, type ClientConfig, defaults, types } from 'pg';

import { isBrief, isServers, unanswered } from './faults.ts';

/** A statement, or a part of one, with the values that stand in it. */
export class Sql {
  readonly strings: readonly string[];
  readonly parts: readonly unknown[];

  constructor(strings: readonly string[], parts: readonly unknown[]) {
    this.strings = strings;
    this.parts = parts;
  }
}

/** Writes SQL; whatever is put in goes as a value, unless it is SQL itself. */
export function sql(strings: TemplateStringsArray, ...parts: unknown[]): Sql {
  return new Sql(strings, parts);
}

/** The text of a statement with numbered places, and the values for them. */
function toQuery(statement: Sql): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const write = ({ strings, parts }: Sql): string =>
    strings
      .map((text, i) => {
        if (i === 0) return text;
        const part = parts[i - 1];
        if (part instanceof Sql) return write(part) + text;
        return `$${values.push(part)}${text}`;
      })
      .join('');
  return { text: write(statement), values };
}

/** Asks one question and gives the rows. */
export type Ask = <T = Record<string, unknown>>(statement: Sql) => Promise<T[]>;

/** How long one statement, a lock, and a transaction that says nothing may take: a stalled owner of a row is ended. */
const STATEMENT_MS = 10_000;
const LOCK_MS = 5_000;
const IDLE_MS = 5_000;
const CONNECT_MS = 5_000;
/** The same for whoever reads, moves or changes a whole record. */
const PATIENT_MS = 600_000;
/** A connection that was cut without a word never answers. */
const QUERY_MS = 12_000;

/** What a connection may be asked to do otherwise. */
export interface ConnectionOptions {
  /** It is one for what may take long: a whole record that is read, a schema that is changed. */
  patient?: boolean;
  /** It is one that decides and writes. */
  writes?: boolean;
  /** Hears that it is closed, by whoever it was. */
  onEnd?: () => void;
}

/** Who connects where nobody is named: who runs this, as with psql. The driver asks `USER` alone, which services lack. */
function nameUser(): void {
  if (defaults.user) return;
  try {
    defaults.user = userInfo().username;
  } catch {
    // One who has no name must be named in the address.
  }
}

/**
 * How questions are planned, whatever is known of the tables, which is nothing in their first minute: what is wanted is
 * the next or the last of an index. A planner that takes a thread for short gathers all of a sender's entries and sorts
 * them; whoever writes has no use for such a plan at all, readers have where words are looked for.
 */
function planning(writes: boolean): string {
  return `-c jit=off -c random_page_cost=1.1${writes ? ' -c enable_bitmapscan=off' : ''}`;
}

function configOf(
  url: string,
  schema: string,
  { patient = false, writes = false }: ConnectionOptions = {},
): ClientConfig {
  nameUser();
  return {
    connectionString: url,
    application_name: 'parley',
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: patient ? PATIENT_MS : STATEMENT_MS,
    query_timeout: patient ? PATIENT_MS : QUERY_MS,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: patient ? PATIENT_MS : IDLE_MS,
    keepAlive: true,
    options: `-c search_path=${schema} ${planning(writes)}`,
    // Positions and seqs are far below what a number holds exactly.
    types: {
      getTypeParser: (oid, format) =>
        // The driver types a parser by what it returns, which is for the column to say.
        (oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format)) as never,
    },
  };
}

/** Connections for those who read. */
export interface ReadPool {
  /** Asks about some workspaces, what changes nothing: once more where the fault was of the moment. */
  within(setting: Sql): Ask;
  /** The same of what belongs to no workspace. */
  ask: Ask;
  /** Says something that is not to be said twice. */
  say: Ask;
  close: () => Promise<void>;
}

/** How often a question is asked that came to nothing by a fault of the moment. */
const TRIES = 2;

/**
 * Connections for those who read, made and thrown away as it takes. A question takes one that is free; where none is it
 * follows those that are under way on the one with the fewest, so that what is asked at once takes one round trip.
 */
export function openPool(url: string, schema: string, max: number): ReadPool {
  const lines = new Set<ReadLine>();
  let isClosed = false;

  function openLine(): ReadLine {
    // One that is cut while nobody uses it is no trouble: the next question gets another.
    const onEnd = (): void => void lines.delete(line);
    const line: ReadLine = { opened: openConnection(url, schema, { onEnd }), waiting: 0 };
    lines.add(line);
    // What it was opened for is told why it could not be.
    line.opened.catch(() => lines.delete(line));
    return line;
  }

  function freest(): ReadLine {
    const [first, ...others] = lines;
    const best = others.reduce((one, other) => (one && one.waiting <= other.waiting ? one : other), first);
    return best === undefined || (best.waiting > 0 && lines.size < max) ? openLine() : best;
  }

  async function once<T>(statement: Sql, setting: Sql | undefined): Promise<T[]> {
    if (isClosed) throw new ParleyError('UNAVAILABLE', 'the store is closed');
    const line = freest();
    line.waiting++;
    try {
      const { ask } = await line.opened;
      // What it may see goes out in the same piece, and only where it is another than before.
      const seen = setting === undefined ? line.seen : JSON.stringify(setting.parts);
      if (setting !== undefined && seen !== line.seen)
        ask(setting).catch(() => {
          // Whatever becomes of the question behind it, the next one says it again.
          line.seen = undefined;
        });
      line.seen = seen;
      return await ask<T>(statement);
    } catch (error) {
      // After a fault of the way nothing more comes through it; what the server refused leaves it as it was.
      if (!isServers(error)) {
        lines.delete(line);
        void line.opened.then(({ close }) => close()).catch(() => {});
      }
      throw error;
    } finally {
      line.waiting--;
    }
  }

  async function tried<T>(statement: Sql, tries: number, setting?: Sql): Promise<T[]> {
    try {
      return await once<T>(statement, setting);
    } catch (error) {
      if (tries > 1 && isBrief(error)) return tried(statement, tries - 1, setting);
      throw unanswered(error);
    }
  }
  return {
    within: (setting) => (statement) => tried(statement, TRIES, setting),
    ask: (statement) => tried(statement, TRIES),
    say: (statement) => tried(statement, 1),
    async close() {
      isClosed = true;
      await Promise.allSettled([...lines].map(async ({ opened }) => (await opened).close()));
    },
  };
}

/** A connection that is open or being opened, and how many questions are under way on it. */
interface ReadLine {
  opened: Promise<Connection>;
  waiting: number;
  /** Which workspaces it was told that it may see. */
  seen?: string | undefined;
}

/** One connection for one who writes: what is not awaited goes out in one piece. */
export interface Connection {
  ask: Ask;
  /** The word with which the server answers a statement: a commit may come back as a rollback. */
  command: (statement: Sql) => Promise<string>;
  close: () => Promise<void>;
}

/** Opens a connection. */
export async function openConnection(
  url: string,
  schema: string,
  options?: ConnectionOptions,
): Promise<Connection> {
  const client = new Client({ ...configOf(url, schema, options), pipeline: true });
  // What is under way is told by its own error.
  client.on('error', () => {});
  if (options?.onEnd !== undefined) client.on('end', options.onEnd);
  await client.connect();
  return {
    async ask<T>(statement: Sql) {
      // The statement names the columns.
      return (await client.query(toQuery(statement))).rows as T[];
    },
    command: async (statement) => (await client.query(toQuery(statement))).command,
    close: () => client.end(),
  };
}
