import { knownEvent, type Thread, type ThreadStatus, type ThreadType } from '@parley/protocol';

import type { Entry } from '../entry.ts';
import { type Finding, foldFindings } from './findings.ts';

/** All that the rules need to know of a thread: a fold over its entries, kept beside them. */
export interface ThreadState {
  thread_id: string;
  workspace_id: string;
  title: string;
  type: ThreadType;
  status: ThreadStatus;
  participants: readonly string[];
  created_by: string;
  created_at: string;
  updated_at: string;
  last_seq: number;
  findings: readonly Finding[];
}

interface CreatedMetadata {
  workspace_id: string;
  title: string;
  type: ThreadType;
  participants: string[];
}

/** The thread's state after one more entry. Replaying the whole log gives the live state again. */
export function evolve(state: ThreadState | undefined, entry: Entry): ThreadState {
  if (state === undefined) return created(entry);
  const next: ThreadState = { ...state, last_seq: entry.seq, updated_at: entry.created_at };
  if (entry.type === 'thread.status') next.status = entry.metadata?.['to'] as ThreadStatus;
  if (entry.type === 'message') {
    const event = knownEvent(entry.kind, entry.metadata);
    if (event !== undefined) next.findings = foldFindings(state.findings, event, entry);
  }
  return next;
}

function created(entry: Entry): ThreadState {
  const { workspace_id, title, type, participants } = entry.metadata as unknown as CreatedMetadata;
  return {
    thread_id: entry.thread_id,
    workspace_id,
    title,
    type,
    status: 'active',
    participants,
    created_by: entry.sender_agent_id,
    created_at: entry.created_at,
    updated_at: entry.created_at,
    last_seq: 0,
    findings: [],
  };
}

/** A finding is open, or was rejected by someone other than its reporter. */
export function isDisputed(state: ThreadState): boolean {
  return state.findings.length > 0;
}

/** The thread as callers see it. */
export function toThread(state: ThreadState): Thread {
  const { findings: _findings, participants, ...thread } = state;
  return { ...thread, participants: [...participants], disputed: isDisputed(state) };
}
