import type { StoredSession } from '../sessions/stored-session.ts';

/** Every way to reach an agent, by name; the hub says which of them it has. */
export const DOORS = [
  'managed',
  'supervisor',
  'command',
  'codex_socket',
  'codex_resume',
  'codex_new',
  'claude_hook',
  'claude_resume',
  'claude_new',
] as const;
export type DoorName = (typeof DOORS)[number];

/** What kind of program an agent runs on, as far as doors differ by it. */
export type Family = 'codex' | 'claude' | 'other';

/** An agent that is to be woken, as the hub knows it at this moment. */
export interface WakeTarget {
  workspace_id: string;
  agent_id: string;
  family: Family;
  /** The session that was heard of last. */
  session: StoredSession | undefined;
  /** The runtime's own id of the newest session that can be resumed: a UUID, so that it can never be a flag. */
  native_id: string | undefined;
  /** A supervisor has the session in its hands. */
  managed: boolean;
  /** The session that commands go to, one and the same from the first look to the last word; undefined while none is connected. */
  reach: string | undefined;
  /** The commands it takes on the connection it has right now. */
  commands: readonly string[];
}

/** Can this door reach the session now? */
export type Look =
  | {
      can: 'now';
      /** How long ago a person last typed into the runtime. */
      human_idle_ms?: number;
    }
  /** It is there, but must not be disturbed at the moment. */
  | { can: 'later'; reason: string; human_idle_ms?: number }
  /** It is there and takes nothing now, and nobody knows whether it will: other doors come first. */
  | { can: 'perhaps'; reason: string }
  | { can: 'no'; reason: string };

/** What is carried through a door. */
export interface DoorRequest {
  /** Stands in the prompt, so that the runtime's own record can prove that it arrived. */
  trigger_id: string;
  thread_id: string;
  prompt: string;
  /** Counts the deliveries that were begun for this trigger. */
  attempt: number;
  /** The hub stopped in the midst of this very attempt: it may have come, and must not come twice. */
  again: boolean;
  /** An operator insists, whoever types. */
  force: boolean;
  /** Who insists, and what for. */
  operator?: string;
  audit?: Record<string, unknown>;
}

/**
 * What shows that the prompt has arrived: the runtime says that it works on it, its own record holds it, or the
 * agent's cursor has moved. That something was typed or sent is no proof.
 */
export type Proof = 'runtime_status' | 'runtime_record' | 'cursor';

/** How a turn that a wake began came to its end. */
export interface TurnEnd {
  ok: boolean;
  detail: string;
}

export type Delivery =
  | {
      came: 'delivered';
      proof: Proof;
      /** The runtime's own id of the session that took it. */
      session?: string;
      /** Where this process looks after the turn: how it ends. */
      ended?: Promise<TurnEnd>;
    }
  /** The runtime has taken it into its own durable queue and is busy; `arrives` tells when it is worked on. */
  | { came: 'queued'; arrives: Promise<Delivery & { came: 'delivered' | 'failed' }> }
  /** Somebody began to type in between: nothing was given, and it is to be tried again. */
  | { came: 'deferred'; reason: string }
  | {
      came: 'failed';
      reason: string;
      /** It was given, and nothing shows whether it has come: the door itself is asked before another is tried. */
      mayHaveCome?: boolean;
    };

/** One way to reach sessions. Whatever it throws counts as a failed delivery. */
export interface Door {
  readonly name: DoorName;
  /** What it starts is a child of the hub and ends with it: after a restart there is nothing to look up. */
  readonly endsWithHub?: true;
  /** True where it is set up for this agent at all. */
  serves(target: WakeTarget): boolean;
  look(target: WakeTarget): Promise<Look>;
  deliver(target: WakeTarget, doorRequest: DoorRequest, signal: AbortSignal): Promise<Delivery>;
  /** What it would run, for people to read; never executed. */
  describe?(target: WakeTarget, doorRequest: DoorRequest): string;
  close?(): Promise<void>;
}
