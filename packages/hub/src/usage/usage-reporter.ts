import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { makeFolderSync } from '@parley/files';
import { errorCode, type InputOf } from '@parley/protocol';
import { isOpenSession, readSession, type RecordedSession, sizesOf, type SpentTurn } from '@parley/runtimes';

import { type SessionProgress, sessionProgress } from './session-progress.ts';

export interface UsageReporterDeps {
  /** Where it is kept how far each session was read. */
  folder: string;
  /** Takes a lock; throws while another process has it. */
  lock: (path: string) => { release(): void };
  /** Whose turns they are. */
  agent: () => Promise<string>;
  /** The runtime's own folder: nothing outside of it is read. */
  home: string;
  /** The sessions that are at work beside this process. */
  sessions: () => Promise<RecordedSession[]>;
  /** Tells the hub; throws where it does not hear. */
  tell: (report: InputOf<'report_usage'>) => Promise<unknown>;
  /** What was used before this process began counts for nothing where a session is seen for the first time. */
  after: string;
  onFault: (error: unknown) => void;
}

/** Tells the hub what the turns of a person's own sessions used. */
export interface UsageReporter {
  /** Looks now, beside its own looks every two seconds; settles when it has looked. */
  look(): Promise<void>;
  /** Reads the rest, and tells it if the hub is there; what it does not hear is told another time. */
  close(): Promise<void>;
}

const LOOK_MS = 2_000;
/** How long the end may take. */
const LEAVE_MS = 1_500;
const LOCK_AGAIN_MS = 25;
/** Of more that wait the oldest are lost. */
const MOST_WAITING = 500;
/** What the hub says no to for good. */
const REFUSALS: ReadonlySet<string | undefined> = new Set([
  'VALIDATION_ERROR',
  'NOT_FOUND',
  'FORBIDDEN',
  'INSUFFICIENT_AUTHORITY',
  'CONFLICT',
  'IDEMPOTENCY_CONFLICT',
]);

/**
 * Reads the runtime's own record of a session as it grows, and reports each turn once: the place is kept on disk, and
 * the key of a turn is its own wherever it is read.
 */
export function openUsageReporter(deps: UsageReporterDeps): UsageReporter {
  const { folder, home, onFault } = deps;
  const progress = sessionProgress(folder);
  const seen = new Map<string, { session: RecordedSession; after: string }>();
  /** What each session was like at the last look, and how often in a row it was so. */
  const lookedAt = new Map<string, { names: string[]; sizes: string; times: number }>();
  let lastLook = deps.after;
  let hasCaughtUp = false;
  let looking: Promise<void> | undefined;

  /** Under a lock, for other processes may read the same session. */
  async function change<T>(run: () => Promise<T>): Promise<T> {
    makeFolderSync(folder);
    const until = performance.now() + LEAVE_MS;
    for (;;) {
      let lock: { release(): void } | undefined;
      try {
        lock = deps.lock(join(folder, 'lock'));
      } catch (error) {
        if (errorCode(error) !== 'CONFLICT' || performance.now() > until) throw error;
      }
      if (lock === undefined) {
        await sleep(LOCK_AGAIN_MS);
        continue;
      }
      try {
        return await run();
      } finally {
        lock.release();
      }
    }
  }

  /** Reads on, and keeps what is to be told before anybody is told. */
  const readOn = (session: RecordedSession, after: string, isLeft: boolean): Promise<SessionProgress> =>
    change(async () => {
      const known = progress.read(session);
      const before = JSON.stringify(known);
      const record = known ?? { session, after, files: {}, waiting: [] };
      const turns = await readSession(session, record.files, { after: record.after, isLeft });
      const agent = turns.length === 0 ? '' : await deps.agent();
      record.waiting = [...record.waiting, ...turns.map((turn) => ({ agent, report: reportOf(turn) }))].slice(
        -MOST_WAITING,
      );
      if (JSON.stringify(record) !== before) progress.write(record);
      return record;
    });

  async function tellWaiting({ session, waiting }: SessionProgress): Promise<void> {
    const reported = new Set<string | undefined>();
    const agent = waiting.length === 0 ? '' : await deps.agent();
    try {
      for (const one of waiting) {
        if (one.agent !== agent) continue;
        await tellOne(one.report);
        reported.add(one.report.idempotency_key);
      }
    } finally {
      if (reported.size > 0)
        await change(async () => {
          const record = progress.read(session);
          if (record === undefined) return;
          record.waiting = record.waiting.filter(({ report }) => !reported.has(report.idempotency_key));
          progress.write(record);
        });
    }
  }

  async function tellOne({ thread_id, ...report }: InputOf<'report_usage'>): Promise<void> {
    try {
      await deps.tell(thread_id === undefined ? report : { ...report, thread_id });
    } catch (error) {
      if (!REFUSALS.has(errorCode(error))) throw error;
      onFault(error);
      // A thread that it is no part of any more.
      if (thread_id !== undefined) await tellOne(report);
    }
  }

  async function look(): Promise<void> {
    const began = new Date().toISOString();
    // One that takes the place of another may begin with a copy of it.
    for (const session of await deps.sessions())
      if (!seen.has(session.id)) seen.set(session.id, { session, after: lastLook });
    lastLook = began;
    const left = hasCaughtUp ? [] : leftBehind();
    hasCaughtUp = true;
    for (const { session, after } of seen.values()) if (await mayBeNew(session)) await follow(session, after);
    for (const session of left)
      await tellWaiting(await readOn(session, deps.after, !(await isOpenSession(session))));
  }

  /** A turn is over when nothing has followed by the next look; after that there is nothing to do until something comes. */
  async function mayBeNew({ id, ...session }: RecordedSession): Promise<boolean> {
    const { names = [], sizes: before, times = 0 } = lookedAt.get(id) ?? {};
    const sizes = await sizesOf({ id, ...session }, names);
    const isSame = sizes === before;
    lookedAt.set(id, { names, sizes, times: isSame ? times + 1 : 0 });
    return !isSame || times < 1;
  }

  async function follow(session: RecordedSession, after: string): Promise<void> {
    const record = await readOn(session, after, false);
    const { sizes = '', times = 0 } = lookedAt.get(session.id) ?? {};
    const names = Object.keys(record.files);
    // What the hub does not hear now is tried again with the next look.
    lookedAt.set(session.id, { names, sizes, times: -1 });
    await tellWaiting(record);
    lookedAt.set(session.id, { names, sizes, times });
  }

  /** Sessions whose process was gone before all of them was told. */
  function leftBehind(): RecordedSession[] {
    makeFolderSync(folder);
    return progress.sessions(Date.now()).filter((session) => session.home === home && !seen.has(session.id));
  }

  function lookOnce(): Promise<void> {
    looking ??= look()
      .catch(onFault)
      .finally(() => (looking = undefined));
    return looking;
  }

  const timer = setInterval(() => void lookOnce(), LOOK_MS).unref();
  void lookOnce();
  return {
    look: lookOnce,
    async close() {
      clearInterval(timer);
      const rest = async (): Promise<void> => {
        await lookOnce();
        // What is still the same at the second look is over.
        await lookOnce();
      };
      await Promise.race([rest(), sleep(LEAVE_MS)]);
    },
  };
}

function reportOf({ key, at, thread_id, usage }: SpentTurn): InputOf<'report_usage'> {
  const day = at.slice(0, 10);
  return {
    ...usage,
    ...(thread_id === undefined ? {} : { thread_id }),
    ...(/^\d{4}-\d\d-\d\d$/.test(day) ? { day } : {}),
    idempotency_key: key,
  };
}
