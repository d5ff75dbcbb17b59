import type {
  Caller,
  Cursor,
  ManagementMode,
  MessageKind,
  Session,
  ThreadStatus,
  ThreadType,
} from '@parley/protocol';

import type { Entry } from './entry.ts';
import type { Located } from './threads/access.ts';
import type { ThreadState } from './threads/state.ts';

/** A caller's promise that the same key means the same thing; kept with the effect in one transaction. */
export interface Idempotency {
  scope: string;
  key: string;
  /** Records made before this moment have left the window and no longer bind. */
  fresh_after: number;
}

interface Base {
  caller: Caller;
  /** Wall-clock milliseconds at the gate. */
  now: number;
  /** Randomness for ids, drawn outside the rules. */
  salt: number;
  idempotency?: Idempotency;
}

export interface CreateThread extends Base {
  type: 'create_thread';
  thread_id: string;
  input: { title: string; type: ThreadType; participants: string[] };
}

export interface PostMessage extends Base {
  type: 'post_message';
  thread_id: string;
  input: {
    schema_version: number;
    kind: MessageKind;
    body: string;
    metadata?: Record<string, unknown>;
    in_reply_to?: string;
    idempotency_key?: string;
  };
}

export interface UpdateStatus extends Base {
  type: 'update_status';
  thread_id: string;
  input: { status: ThreadStatus; reason: string };
}

export interface AckRead extends Base {
  type: 'ack_read';
  thread_id: string;
  input: { last_read_seq: number };
}

export interface Heartbeat extends Base {
  type: 'heartbeat';
  input: { runtime: string; status: Session['status']; resumable: boolean; management_mode: ManagementMode };
}

/** Everything that changes the hub: plain data, so that it crosses to the store's thread as it is. */
export type Command = CreateThread | PostMessage | UpdateStatus | AckRead | Heartbeat;

/** What a store loads before it asks the rules. */
export interface Needs {
  thread?: string;
  /** The entry at this seq of the thread, for what refers to it. */
  entry_seq?: number;
  /** The caller's cursor in the thread. */
  cursor?: boolean;
}

/** What a store hands to the rules. */
export interface Loaded {
  located: Located;
  entry: Entry | undefined;
  cursor: Cursor | undefined;
}

/** What the rules want written, all or nothing, and the answer to give once it is durable. */
export interface Decision {
  entries: Entry[];
  thread?: ThreadState;
  cursor?: Cursor;
  session?: Session;
  result: Record<string, unknown>;
}
