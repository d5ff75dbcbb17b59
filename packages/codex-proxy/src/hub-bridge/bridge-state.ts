import { readFile } from 'node:fs/promises';

import { writeWhole } from '@parley/mail';
import { ParleyError, errorCode } from '@parley/protocol';
import * as z from 'zod';

const place = z.number().int().min(0);

/** A table under names that others chose, such as `constructor`: it has nothing but what was put there. */
const table = <S extends z.ZodType>(of: S) =>
  z.record(z.string(), of).transform((given): Record<string, z.output<S>> => bare(given));

/** How far a team and a workspace have heard of each other. */
const BridgeState = z.object({
  version: z.literal(1),
  hub: z.string(),
  workspace: z.string().nullable(),
  /** What was in an archive before is not told. */
  linked_at: z.iso.datetime(),
  /** Where the hub's log stood then. */
  start: place.nullable(),
  /** How far each name has heard the hub's log. */
  heard: table(place),
  /** How far each agent's archive has been told. */
  told: table(place),
  /** The thread of each pair, and how many there were before it. */
  threads: table(z.object({ thread_id: z.string(), round: z.number().int() })),
  /** Members of the team that stand for somebody at the hub, and where they last wrote to whom. */
  peers: table(z.object({ agent: z.string(), threads: table(z.string()) })),
  /** The answer to somebody at the hub that is just being said, and where: wherever he writes next, it stays there. */
  saying: table(z.object({ message_id: z.string(), thread_id: z.string() })),
});
export type BridgeState = z.output<typeof BridgeState>;

/** The state of a link in its file. */
export interface StateFile {
  state: BridgeState;
  /** Settles when the state as it is now is on disk; calls that come while it is written share the next writing. */
  save(): Promise<void>;
  /** The same a little later, for what a repetition would do no harm. */
  saveSoon(): void;
  /** Saves a last time. */
  close(): Promise<void>;
}

const SOON_MS = 200;

/** Opens the state of a team's link; with another hub or workspace than before, the link begins anew. */
export async function openStateFile(
  path: string,
  { hub, workspace }: Pick<BridgeState, 'hub' | 'workspace'>,
  now: Date,
): Promise<StateFile> {
  const before = await readState(path);
  const isSame = before !== undefined && before.hub === hub && before.workspace === workspace;
  const state: BridgeState = isSame
    ? before
    : {
        version: 1,
        hub,
        workspace,
        linked_at: now.toISOString(),
        start: null,
        heard: bare(),
        told: before?.told ?? bare(),
        threads: bare(),
        peers: bare(
          Object.fromEntries(
            Object.entries(before?.peers ?? {}).map(([name, { agent }]) => [
              name,
              { agent, threads: bare() },
            ]),
          ),
        ),
        saying: bare(),
      };
  let last: Promise<void> = Promise.resolve();
  let queued: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const save = (): Promise<void> => {
    queued ??= last
      .catch(() => {})
      .then(() => {
        queued = undefined;
        last = writeWhole(path, `${JSON.stringify(state)}\n`);
        return last;
      });
    return queued;
  };
  return {
    state,
    save,
    saveSoon() {
      timer ??= setTimeout(() => {
        timer = undefined;
        // What could not be written now is written with the next change.
        save().catch(() => {});
      }, SOON_MS);
    },
    close() {
      clearTimeout(timer);
      return save();
    },
  };
}

/** A table without anything that it was not given. */
export function bare<T>(given: Record<string, T> = {}): Record<string, T> {
  // An empty table, without the names that every object has.
  return Object.assign(Object.create(null) as Record<string, T>, given);
}

/** The state that a link left; undefined where there is none. */
export async function readState(path: string): Promise<BridgeState | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return BridgeState.parse(JSON.parse(text));
  } catch {
    throw new ParleyError(
      'CONFLICT',
      `${path} cannot be understood and is left as it is; to begin the link anew, move it away`,
      { path },
    );
  }
}
