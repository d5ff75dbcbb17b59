/** A session that was heard of. */
export interface HeardSession {
  workspace_id: string;
  agent_id: string;
  session_id: string;
}

/** Hears of sessions as they come: those who have calls to see to then look for them. */
export interface Arrivals {
  /** It beats, or waits to be woken; `gone` when it takes leave. */
  heard(who: HeardSession, sign?: { gone?: boolean; native?: string | undefined }): void;
  /** It has a connection on which it takes commands. */
  connected(who: HeardSession): void;
  /** It is known to have such a connection to another node: it may have had it before that was known. */
  elsewhere(who: HeardSession): void;
  /** From now on this one is told of all who come; `elsewhere` of those whom another node has. */
  watch(onArrival: (who: HeardSession, about: { elsewhere: boolean }) => void): void;
}

interface Heard {
  at: number;
  gone: boolean;
  native: string | undefined;
}

/** How many sessions are remembered. */
const MOST = 10_000;

/**
 * Tells who has come from who is still there. What it knows ends with the process: after a restart of the hub everybody
 * comes anew.
 */
export function createArrivals({
  monotonic,
  silentMs,
}: {
  monotonic: () => number;
  silentMs: number;
}): Arrivals {
  const heardByName = new Map<string, Heard>();
  const watchers: Parameters<Arrivals['watch']>[0][] = [];
  const tell = (who: HeardSession, elsewhere = false): void => {
    for (const onArrival of watchers) onArrival(who, { elsewhere });
  };

  return {
    heard(who, { gone = false, native } = {}) {
      const name = `${who.workspace_id} ${who.agent_id} ${who.session_id}`;
      const before = heardByName.get(name);
      const now = { at: monotonic(), gone, native: native ?? before?.native };
      heardByName.delete(name);
      heardByName.set(name, now);
      const [oldest] = heardByName.keys();
      if (heardByName.size > MOST && oldest !== undefined) heardByName.delete(oldest);
      const isNew =
        before === undefined || before.gone || now.at - before.at > silentMs || before.native !== now.native;
      if (isNew && !gone) tell(who);
    },
    connected: (who) => tell(who),
    elsewhere: (who) => tell(who, true),
    watch: (onArrival) => void watchers.push(onArrival),
  };
}
