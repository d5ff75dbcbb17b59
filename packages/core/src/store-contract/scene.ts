import { type Caller, entryUlid, messageId, type Role } from '@parley/protocol';

import type { Command, CreateThread, Idempotency, PostMessage, ResultOf } from '../commands.ts';
import type { Committed, Page, PageQuery, Store } from '../store.ts';

/** A store that the contract may open again, where it keeps anything. */
export interface OpenedStore {
  store: Store;
  /** Closes and opens it anew on the same data; undefined for a store that forgets. */
  reopen: (() => Promise<Store>) | undefined;
  close(): Promise<void>;
}

/** The moment of every command that names no other. */
export const NOW = Date.parse('2030-01-01T00:00:00Z');
/** The id of a message farther on than any thread goes, as anybody can write one. */
export const FAR_ID = messageId(entryUlid(NOW, 2 ** 40, 1));
/** A page without bounds. */
export const ALL = { limit: 1_000, max_bytes: 1e9 };

/** Somebody of a workspace. */
export function callerOf(agent_id: string, workspace_id: string, role: Role = 'worker'): Caller {
  return { agent_id, workspace_id, role, session_id: `${agent_id}-1` };
}

let salts = 0;

/** The head of a command that carries no key. */
export function head(caller: Caller, now = NOW) {
  return { caller, now, salt: salts++ };
}

/** A command that makes a thread. */
export function creating(
  thread_id: string,
  caller: Caller,
  participants: string[] = [],
  now = NOW,
): CreateThread {
  const input = { title: thread_id, type: 'workflow' as const, participants };
  return { type: 'create_thread', caller, now, salt: salts++, thread_id, input };
}

export interface PostOptions {
  now?: number;
  key?: string;
  fresh_after?: number;
  input?: Partial<PostMessage['input']>;
}

/** A command that posts a message, with a key where one is given. */
export function posting(
  thread_id: string,
  body: string,
  caller: Caller,
  options: PostOptions = {},
): PostMessage {
  const { now = NOW, key, fresh_after = 0, input = {} } = options;
  const content = { schema_version: 1, kind: 'chat' as const, body, ...input };
  const command = { type: 'post_message' as const, caller, now, salt: salts++, thread_id };
  if (key === undefined) return { ...command, input: content };
  const scope = `${caller.workspace_id} ${thread_id}`;
  const idempotency: Idempotency = { scope, key, fresh_after };
  return { ...command, input: { ...content, idempotency_key: key }, idempotency };
}

/** A command that acknowledges reading. */
export const acking = (thread_id: string, last_read_seq: number, caller: Caller): Command => ({
  type: 'ack_read',
  caller,
  now: NOW,
  salt: salts++,
  thread_id,
  input: { last_read_seq },
});

/** A command that shows a session alive. */
export const beating = (caller: Caller, status: 'active' | 'idle'): Command => ({
  type: 'heartbeat',
  caller,
  now: NOW,
  salt: salts++,
  input: { runtime: 'codex_cli', status, resumable: true, management_mode: 'managed' },
});

export const bodies = (page: Page): string[] => page.entries.map(({ body }) => body);
export const seqs = (page: Page): number[] => page.entries.map(({ seq }) => seq);

/** One test's own workspace, with a thread `t` for alice and bob, in a store that the tests of a suite share. */
export interface Scene {
  store: Store;
  workspace_id: string;
  alice: Caller;
  bob: Caller;
  chief: Caller;
  /** Somebody of another workspace. */
  carol: Caller;
  t: string;
  say: (body: string, options?: PostOptions) => Promise<Committed<ResultOf<'post_message'>>>;
  page: (after?: number, more?: Partial<PageQuery>) => Promise<Page>;
}

let scenes = 0;

/** Makes one test's scene. */
export async function createScene(store: Store): Promise<Scene> {
  const workspace_id = `w${++scenes}`;
  const alice = callerOf('alice', workspace_id);
  const t = `t${scenes}`;
  await store.transact(creating(t, alice, ['bob']));
  return {
    store,
    workspace_id,
    alice,
    bob: callerOf('bob', workspace_id),
    chief: callerOf('chief', workspace_id, 'operator'),
    carol: callerOf('carol', `${workspace_id}-other`),
    t,
    say: (body, options) => store.transact(posting(t, body, alice, options)),
    page: (after = 0, more = {}) => store.page({ workspace_id, thread_id: t, after, ...ALL, ...more }),
  };
}

/** Runs one test of the contract in a scene of its own; a long one is left out where thousands of runs are made. */
export type Check = (name: string, run: (scene: Scene) => Promise<void>, size?: 'long') => void;
