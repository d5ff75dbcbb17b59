import { LIMITS, ParleyError } from '@parley/protocol';

import type { Entry } from '../entry.ts';
import { hubCaller } from '../hub-caller.ts';
import { keepTrying } from '../keep-trying.ts';
import { invokedBy } from '../participation/calls.ts';
import type { ThreadPlace, ThreadRow } from '../store.ts';
import type { HeardSession } from './arrivals.ts';
import { furthest, type Known, lastWakes } from './gather.ts';
import type { Waker, WakerDeps } from './ports.ts';
import { CALLED_UPON } from './wake.ts';

export interface ReturnDeps extends Pick<WakerDeps, 'store' | 'offers' | 'onFault'> {
  waker: Waker;
  /** False once another wakes, who looks for all who are there itself. */
  isOwner?: () => boolean;
}

/** Sees to it that nobody who comes back is left with calls that came while it was away. */
export interface Returns {
  /** Call when what was under way before a restart goes on: nobody is looked for before. */
  start(): void;
  came(who: Pick<HeardSession, 'workspace_id' | 'agent_id'>): void;
  close(): Promise<void>;
}

/** At one return an agent is woken for so many threads at most, those that were spoken in last. */
const MOST_WAKES = 20;
interface Call extends Known {
  human: boolean;
}

/** How many pages of threads, and of entries in each, are looked through. */
const PAGES = 5;

/** Looks once at each return; what was read, or delivered and then left, wakes nobody again. */
export function createReturns({ store, offers, waker, isOwner, onFault }: ReturnDeps): Returns {
  /** Whoever comes again meanwhile is looked for once more, after. */
  const lookingByName = new Map<string, { again: boolean; done: Promise<void> }>();
  const closing = new AbortController();
  let start = (): void => {};
  const started = new Promise<void>((resolve) => (start = resolve));

  /** A call upon an agent that was neither read nor brought to it: one that came to nothing then, or the newest that is found. */
  async function standingCall({ state, last_read_seq }: ThreadRow, agent: string): Promise<Call | undefined> {
    const { workspace_id, thread_id } = state;
    const [given, wakes] = await Promise.all([
      offers.reached(workspace_id, thread_id, agent),
      lastWakes(store, workspace_id, thread_id, agent),
    ]);
    const query = { workspace_id, thread_id, limit: LIMITS.page_max, max_bytes: LIMITS.page_bytes };
    let after = Math.max(last_read_seq, given, furthest(wakes)?.through_seq ?? 0);
    const inVain = wakes.find(({ reason, through_seq }) => reason === CALLED_UPON && through_seq > after);
    if (inVain !== undefined) return { seq: inVain.through_seq, by: inVain.by, human: inVain.human };
    let found: Entry | undefined;
    for (let page = 0; page < PAGES && after < state.last_seq; page++) {
      const { entries, has_more } = await store.page({ ...query, after });
      found = entries.findLast((entry) => invokedBy(state, entry).includes(agent)) ?? found;
      after = entries.at(-1)?.seq ?? state.last_seq;
      if (!has_more) break;
    }
    return found && { seq: found.seq, by: found.sender_agent_id, human: found.human === true };
  }

  async function look(workspace_id: string, agent: string): Promise<void> {
    await started;
    if ((await waker.canReach(workspace_id, agent)) === undefined) return;
    const query = {
      workspace_id,
      participant: agent,
      reader: agent,
      status: undefined,
      unread: true,
      limit: LIMITS.page_max,
      max_bytes: LIMITS.page_bytes,
    };
    let before: ThreadPlace | undefined;
    let wakes = 0;
    for (let page = 0; page < PAGES && wakes < MOST_WAKES; page++) {
      const { rows, next } = await store.threads({ ...query, before });
      for (const row of rows) {
        if (closing.signal.aborted || wakes >= MOST_WAKES) return;
        const { state } = row;
        if (state.status === 'closed' || state.journal_of !== undefined) continue;
        const call = await standingCall(row, agent);
        if (call === undefined) continue;
        wakes++;
        const { seq, by, human } = call;
        const request = { thread: state, target: agent, by, human, reason: CALLED_UPON, call: seq };
        const { recorded, outcome } = waker.wake(hubCaller(workspace_id), request);
        // Its failure is on record; nobody else waits for it.
        outcome.catch(() => {});
        await recorded;
      }
      if (next === undefined) return;
      before = next;
    }
  }

  const isOver = (): boolean => closing.signal.aborted || isOwner?.() === false;

  /** Nobody comes a second time because the store was away when it came: it is looked for once that is back. */
  function lookPatiently(workspaceId: string, agent: string): Promise<void> {
    return keepTrying(
      () => look(workspaceId, agent),
      closing.signal,
      (error) => {
        if (isOver() || !(error instanceof ParleyError)) throw error;
      },
    );
  }

  function came(workspaceId: string, agent: string): void {
    if (closing.signal.aborted) return;
    const name = `${workspaceId} ${agent}`;
    const looking = lookingByName.get(name);
    if (looking !== undefined) {
      looking.again = true;
      return;
    }
    const done = lookPatiently(workspaceId, agent)
      .catch((error: unknown) => void (isOver() || onFault(error)))
      .finally(() => {
        const { again } = lookingByName.get(name) ?? { again: false };
        lookingByName.delete(name);
        if (again) came(workspaceId, agent);
      });
    lookingByName.set(name, { again: false, done });
  }

  return {
    start,
    came: ({ workspace_id, agent_id }) => came(workspace_id, agent_id),
    async close() {
      closing.abort();
      start();
      await Promise.all([...lookingByName.values()].map(({ done }) => done));
    },
  };
}
