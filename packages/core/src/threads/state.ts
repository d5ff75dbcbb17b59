import { type Control, knownEvent, type Thread, type ThreadStatus, type ThreadType } from '@parley/protocol';

import { type Entry, factsOf } from '../entry.ts';
import {
  type Conversation,
  foldControl,
  foldSpeech,
  leaverOf,
  PLAIN,
} from '../participation/conversation.ts';
import { type Finding, foldFindings } from './findings.ts';

/** A side channel as its main thread lists it while it is open. */
interface SideChannel {
  thread_id: string;
  title: string;
  purpose: string;
  owner: string;
  opened_at: string;
}

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
  /** Left out until the first control. */
  conversation?: Conversation;
  /** The main thread of a side channel. */
  side_of?: string;
  side_channels?: readonly SideChannel[];
  /** The agent whose journal this is. */
  journal_of?: string;
  /** The log of the workspace's documents. */
  tree?: true;
}

interface CreatedMetadata {
  workspace_id: string;
  title: string;
  type: ThreadType;
  participants: string[];
  side_of?: string;
  journal_of?: string;
  tree?: true;
}

/** The thread's state after one more entry. Replaying the whole log gives the live state again. */
export function evolve(state: ThreadState | undefined, entry: Entry): ThreadState {
  if (state === undefined) return created(entry);
  const next: ThreadState = { ...state, last_seq: entry.seq, updated_at: entry.created_at };
  const fold = FOLDS[entry.type];
  if (fold !== undefined) fold(next, entry);
  return next;
}

type Fold = (next: ThreadState, entry: Entry) => void;

const FOLDS: Partial<Record<Entry['type'], Fold>> = {
  message(next, entry) {
    const event = knownEvent(entry.kind, entry.metadata);
    if (event !== undefined) next.findings = foldFindings(next.findings, event, entry);
    hear(next, entry);
  },
  result: hear,
  'thread.status'(next, entry) {
    next.status = factsOf<{ to: ThreadStatus }>(entry).to;
  },
  'thread.renamed'(next, entry) {
    next.title = factsOf<{ title: string }>(entry).title;
  },
  control(next, entry) {
    const { control } = factsOf<{ control?: Control }>(entry);
    if (control === undefined) return;
    next.conversation = foldControl(next.conversation ?? PLAIN, control, entry);
    const newcomer = 'invite' in control ? control.invite.participant_id : undefined;
    if (newcomer !== undefined && !next.participants.includes(newcomer))
      next.participants = [...next.participants, newcomer];
    const leaver = leaverOf(control, entry);
    if (leaver !== undefined) next.participants = next.participants.filter((name) => name !== leaver);
  },
  'side.opened'(next, entry) {
    const { side_id, title, purpose, owner } = factsOf<Omit<SideChannel, 'thread_id'> & { side_id: string }>(
      entry,
    );
    const side = { thread_id: side_id, title, purpose, owner, opened_at: entry.created_at };
    next.side_channels = [...(next.side_channels ?? []), side];
  },
  'side.closed'(next, { metadata }) {
    next.side_channels = (next.side_channels ?? []).filter(
      (side) => side.thread_id !== metadata?.['side_id'],
    );
  },
};

function hear(next: ThreadState, entry: Entry): void {
  if (next.conversation !== undefined)
    next.conversation = foldSpeech(next.conversation, entry.sender_agent_id);
}

function created(entry: Entry): ThreadState {
  const metadata = factsOf<CreatedMetadata>(entry);
  const { workspace_id, title, type, participants, side_of, journal_of, tree } = metadata;
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
    ...(side_of === undefined ? {} : { side_of }),
    ...(journal_of === undefined ? {} : { journal_of }),
    ...(tree === undefined ? {} : { tree }),
  };
}

/** A finding is open, or was rejected by someone other than its reporter. */
export function isDisputed(state: ThreadState): boolean {
  return state.findings.length > 0;
}

/** The thread as callers see it: of the conversation only what somebody has set. */
export function toThread(state: ThreadState): Thread {
  const { findings: _findings, participants, conversation, side_channels, ...thread } = state;
  return {
    ...thread,
    participants: [...participants],
    disputed: isDisputed(state),
    ...(conversation === undefined ? {} : toSettings(conversation)),
    ...(side_channels === undefined || side_channels.length === 0
      ? {}
      : { side_channels: [...side_channels] }),
  };
}

function toSettings(conversation: Conversation): Partial<Thread> {
  const {
    muted,
    muted_until,
    paused,
    done,
    expires_at,
    discussion,
    invited_auto,
    policy,
    prodded,
    profiles,
  } = conversation;
  return {
    ...(muted.length === 0 ? {} : { muted: [...muted] }),
    ...(muted_until === undefined ? {} : { muted_until }),
    ...(paused ? { paused } : {}),
    ...(done ? { done } : {}),
    ...(expires_at === undefined ? {} : { expires_at }),
    ...(discussion.on ? { discussion } : {}),
    ...(invited_auto ? { invited_auto } : {}),
    ...(policy.mode === 'auto' && policy.threshold === undefined ? {} : { policy }),
    ...(prodded.length === 0 ? {} : { prodded: [...prodded] }),
    ...(Object.keys(profiles).length === 0 ? {} : { profiles }),
  };
}
