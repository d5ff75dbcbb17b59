import type { Agent, Ask, Session } from '@parley/protocol';

/** How far a thread was handed to an agent, and by which way. */
export interface Offer {
  thread_id: string;
  agent_id: string;
  /** The door by which it went: sse, ws, mcp, wait, read. */
  how: string;
  seq: number;
  at: string;
}

/** What is kept beside the log, by kind: small things with one current value each. */
export interface RecordKinds {
  session: Session;
  agent: Agent;
  ask: Ask;
  offer: Offer;
}

export type RecordKind = keyof RecordKinds;

/** One value to be put: `mark` is the word by which its kind is listed. */
export type PutRecord = {
  [K in RecordKind]: { kind: K; workspace_id: string; key: string; mark: string; value: RecordKinds[K] };
}[RecordKind];

/** Which values of a kind are wanted, in the order of their keys. */
export interface RecordsQuery<K extends RecordKind = RecordKind> {
  kind: K;
  /** Undefined for the hub's own housekeeping, which looks at all workspaces. */
  workspace_id: string | undefined;
  marks?: readonly string[];
  /** Only keys that begin so. */
  prefix?: string;
  limit: number;
}
