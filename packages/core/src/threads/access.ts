import { hash } from 'node:crypto';

import {
  type Caller,
  ParleyError,
  tagFromDigest,
  tagOfScopedId,
  tagOfThreadId,
  threadId,
  ulid,
} from '@parley/protocol';

import type { ThreadState } from './state.ts';
import { mayOverride } from './status.ts';

/** Where a thread id leads for one workspace; a foreign thread and an unknown one are told apart only by these words. */
export type Located =
  | {
      thread: ThreadState;
      /** The main thread of a side channel, whose participants may read along. */ main?: ThreadState;
    }
  | { thread: undefined; foreign: boolean };

/** The tag that ends the ids of a workspace's threads. */
export function workspaceTag(workspaceId: string): string {
  return tagFromDigest(Buffer.from(hash('sha256', workspaceId, 'hex'), 'hex'));
}

/** How the ids of journals and trees begin, and no other does: no thread was made in 1970. */
export const JOURNAL_PREFIX = 'th_0000000000';

/** The thread that holds what concerns one agent and no other thread; its id follows from the agent's name. */
export function journalId(workspaceId: string, agentId: string): string {
  const digest = Buffer.from(hash('sha256', JSON.stringify([workspaceId, agentId]), 'hex'), 'hex');
  return threadId(ulid(0, digest), workspaceTag(workspaceId));
}

/** The thread that holds all that happens to a workspace's documents. */
export function treeId(workspaceId: string): string {
  const digest = Buffer.from(hash('sha256', JSON.stringify([workspaceId]), 'hex'), 'hex');
  return threadId(ulid(0, digest), workspaceTag(workspaceId));
}

/** A verified caller is one object for the life of its token: its tag is made once. */
const tagByCaller = new WeakMap<Caller, string>();

/** Refuses an id that names another workspace, before any look-up. */
export function checkThreadScope(id: string, caller: Caller): void {
  checkTag(tagOfThreadId(id), caller);
}

/** The same for the id of something else that belongs to a workspace. */
export function checkIdScope(id: string, caller: Caller): void {
  checkTag(tagOfScopedId(id), caller);
}

function checkTag(tag: string | undefined, caller: Caller): void {
  if (tag === undefined) return;
  let own = tagByCaller.get(caller);
  if (own === undefined) tagByCaller.set(caller, (own = workspaceTag(caller.workspace_id)));
  if (tag !== own) throw outOfScope();
}

/** The thread, if it is there and of the caller's workspace. */
function requireThread(located: Located, caller: Caller): ThreadState {
  const { thread } = located;
  if (thread === undefined) {
    if (located.foreign) throw outOfScope();
    throw new ParleyError('NOT_FOUND', 'no such thread');
  }
  if (thread.workspace_id !== caller.workspace_id) throw outOfScope();
  return thread;
}

/** The thread, if the caller takes part in it or steers the workspace. */
export function admit(located: Located, caller: Caller): ThreadState {
  const thread = requireThread(located, caller);
  if (!takesPart(thread, caller)) throw notAParticipant();
  return thread;
}

/** The thread, if the caller may read it: side channels are open to all of their main thread, the tree to everybody. */
export function admitReader(located: Located, caller: Caller): ThreadState {
  const thread = requireThread(located, caller);
  if (thread.tree === true) return thread;
  const main = 'main' in located ? located.main : undefined;
  if (!takesPart(thread, caller) && (main === undefined || !takesPart(main, caller))) throw notAParticipant();
  return thread;
}

/** True where the caller may read the thread. */
export function mayRead(located: Located, caller: Caller): boolean {
  try {
    admitReader(located, caller);
    return true;
  } catch {
    return false;
  }
}

function takesPart(thread: ThreadState, caller: Caller): boolean {
  return (
    mayOverride(caller) ||
    thread.participants.includes(caller.agent_id) ||
    thread.journal_of === caller.agent_id
  );
}

function notAParticipant(): ParleyError {
  return new ParleyError('FORBIDDEN', 'you are not a participant of this thread');
}

/** A workspace that holds no thread has none that could be missing: what it names then belongs elsewhere. */
export function isForeign(workspaceHasThreads: boolean, hubHasThreads: boolean): boolean {
  return !workspaceHasThreads && hubHasThreads;
}

/** The one answer to a call that reaches for another workspace. */
export function outOfScope(): ParleyError {
  return new ParleyError('OUT_OF_SCOPE_WORKSPACE', 'this belongs to no thread of your workspace');
}
