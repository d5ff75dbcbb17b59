/** A session that waits by a call of its own to be woken. */
interface WaitingSession {
  workspace_id: string;
  agent_id: string;
  /** The runtime's own id. */
  session: string;
}

/** What is handed to a session that waits. */
interface HeldWake {
  trigger_id: string;
  thread_id: string;
  prompt: string;
}

/** Where sessions that cannot be called wait for their wakes, one call each, and say what they took and have seen. */
export interface WaitingSessions {
  /** How many sessions have waited here. */
  readonly size: number;
  /** Waits for a wake until the signal ends it; a newer call of the same session takes its place. */
  wait(who: WaitingSession, signal: AbortSignal): Promise<HeldWake | 'replaced' | undefined>;
  /** The session has what it was given. */
  took(who: WaitingSession, triggerId: string): void;
  /** The session's own record holds these wakes. */
  saw(who: WaitingSession, triggerIds: readonly string[]): void;
  /** True where the session has said that its own record holds this wake. */
  holds(who: WaitingSession, triggerId: string): boolean;
  /** The session of an agent to be woken: this one if it is here, else the one that came last. */
  find(workspaceId: string, agentId: string, session: string | undefined): FoundSession | undefined;
  /** Hands a wake over; settles when the session says that it took it, and throws when the signal ends it first. */
  give(who: WaitingSession, wake: HeldWake, signal: AbortSignal): Promise<void>;
  /** Settles when the session's own record has been seen to hold the wake. */
  seen(triggerId: string): Promise<void>;
}

export interface FoundSession extends WaitingSession {
  /** Waiting now, or given a wake at this moment of the monotonic clock and not back yet. */
  state: 'waiting' | { givenAt: number };
}

interface Place extends WaitingSession {
  resolve: ((wake: HeldWake | 'replaced' | undefined) => void) | undefined;
  givenAt: number | undefined;
  tookBy: Map<string, () => void>;
  /** What its own record held when it came last. */
  seen: readonly string[];
}

/** How many sessions, and wakes that nobody has seen yet, are remembered. */
const MOST = 1_000;

/** The waiting sessions of one process: a hub that restarts is asked again by all who wait. */
export function createWaitingSessions(monotonic: () => number): WaitingSessions {
  const placesByName = new Map<string, Place>();
  const unseen = new Map<string, () => void>();

  const nameOf = ({ workspace_id, agent_id, session }: WaitingSession): string =>
    `${workspace_id} ${agent_id} ${session}`;

  function placeOf(who: WaitingSession): Place {
    const name = nameOf(who);
    const { workspace_id, agent_id, session } = who;
    const place = placesByName.get(name) ?? {
      workspace_id,
      agent_id,
      session,
      resolve: undefined,
      givenAt: undefined,
      tookBy: new Map<string, () => void>(),
      seen: [],
    };
    // The one that came last stands last.
    placesByName.delete(name);
    placesByName.set(name, place);
    forgetOldest(placesByName);
    return place;
  }

  return {
    get size() {
      return placesByName.size;
    },
    wait(who, signal) {
      const place = placeOf(who);
      place.resolve?.('replaced');
      place.givenAt = undefined;
      if (signal.aborted) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        const leave = (): void => settle(undefined);
        const settle = (wake: HeldWake | 'replaced' | undefined): void => {
          signal.removeEventListener('abort', leave);
          if (place.resolve === settle) place.resolve = undefined;
          resolve(wake);
        };
        place.resolve = settle;
        signal.addEventListener('abort', leave);
      });
    },
    took: (who, triggerId) => placesByName.get(nameOf(who))?.tookBy.get(triggerId)?.(),
    saw(who, triggerIds) {
      placeOf(who).seen = triggerIds;
      for (const id of triggerIds) unseen.get(id)?.();
    },
    holds: (who, triggerId) => placesByName.get(nameOf(who))?.seen.includes(triggerId) === true,
    find(workspaceId, agentId, session) {
      const ofAgent = [...placesByName.values()].filter(
        (place) =>
          place.workspace_id === workspaceId &&
          place.agent_id === agentId &&
          (place.resolve !== undefined || place.givenAt !== undefined),
      );
      const place = ofAgent.find((one) => one.session === session) ?? ofAgent.at(-1);
      if (place === undefined) return undefined;
      const { workspace_id, agent_id, resolve, givenAt = 0 } = place;
      const state = resolve === undefined ? { givenAt } : ('waiting' as const);
      return { workspace_id, agent_id, session: place.session, state };
    },
    give(who, wake, signal) {
      const place = placeOf(who);
      const { resolve } = place;
      if (resolve === undefined) return Promise.reject(new Error('nobody waits there any more'));
      return new Promise((taken, reject) => {
        const end = (): void => {
          place.tookBy.delete(wake.trigger_id);
          signal.removeEventListener('abort', lost);
        };
        const lost = (): void => {
          end();
          place.givenAt = undefined;
          reject(new Error('the session did not say that it took it'));
        };
        signal.addEventListener('abort', lost);
        place.tookBy.set(wake.trigger_id, () => {
          end();
          taken();
        });
        place.givenAt = monotonic();
        resolve(wake);
      });
    },
    seen(triggerId) {
      return new Promise((resolve) => {
        unseen.set(triggerId, () => {
          unseen.delete(triggerId);
          resolve();
        });
        forgetOldest(unseen);
      });
    },
  };
}

function forgetOldest(map: Map<string, unknown>): void {
  const [oldest] = map.keys();
  if (map.size > MOST && oldest !== undefined) map.delete(oldest);
}
