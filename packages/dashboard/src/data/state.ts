import type { AgentView, Ask, OutputOf, ThreadEvent } from '@parley/protocol';
import { computed, signal } from '@preact/signals';

/** Who is signed in on this device. */
export interface Me {
  agent_id: string;
  workspace_id: string;
  device_id: string;
  device_name: string;
  read_only: boolean;
  version: string;
  /** How its person types `parley` where the hub runs. */
  command: string;
  /** Where this person may go, when an issuer signed them in. */
  workspaces?: readonly string[];
  sign_in_at?: string;
}

/** A thread as the lists show it. */
export type ThreadRow = OutputOf<'list_threads'>['threads'][number];

/** The last thing that was said in a thread. */
export type Preview = Omit<OutputOf<'preview_threads'>['previews'][number], 'thread_id'>;

/** How a request for a person stands here: what the hub knows, and what this device is about to say. */
export interface AskRow {
  ask: Ask;
  /** An answer is on its way from here; nothing is settled before the hub says so. */
  sending?: boolean;
  /** What went wrong with it. */
  failed?: string;
}

/** undefined: not known yet; null: nobody. */
/** How the issuer is called at which people sign in; undefined where there is none. */
export const signInAt = signal<string | undefined>(undefined);

export const me = signal<Me | null | undefined>(undefined);

/** A command of the hub's program, to be pasted into a terminal there. */
export const typed = (what: string): string => `${me.value?.command ?? 'parley'} ${what}`;

export const agents = signal<readonly AgentView[] | undefined>(undefined);
export const asks = signal<ReadonlyMap<string, AskRow>>(new Map());
export const threads = signal<ReadonlyMap<string, ThreadRow> | undefined>(undefined);
export const previews = signal<ReadonlyMap<string, Preview>>(new Map());
/** Present in a thread and how, by thread and agent. */
export const presence = signal<ReadonlyMap<string, ReadonlyMap<string, string>>>(new Map());

/** What happened to documents since the picture before, as the log tells it. */
export const treeEvents = signal<readonly ThreadEvent[]>([]);

/** How the connection to the hub is. */
export const line = signal<'connecting' | 'live' | 'lost'>('connecting');

/** A moment that moves every second, for what counts time. */
export const tick = signal(Date.now());

/** Those who wait for an answer, the most pressing first; what was just settled stays in its place for a while. */
export const waiting = computed(() =>
  [...asks.value.values()].toSorted((a, b) => (a.ask.expires_at < b.ask.expires_at ? -1 : 1)),
);

export const openAsks = computed(() => waiting.value.filter(({ ask }) => ask.status === 'open').length);

/** The threads of people and agents, the newest first; journals and the log of the documents are no conversations. */
export const conversations = computed(() =>
  [...(threads.value?.values() ?? [])]
    .filter((thread) => thread.journal_of === undefined && thread.tree !== true)
    .toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1)),
);

export const unreadThreads = computed(() =>
  conversations.value.filter(({ unread, status }) => unread > 0 && status !== 'closed'),
);

/** The agents, without the person who looks. */
export const fleet = computed(() =>
  (agents.value ?? []).filter(({ agent_id }) => agent_id !== me.value?.agent_id),
);

export const agentById = computed(
  () => new Map((agents.value ?? []).map((agent) => [agent.agent_id, agent])),
);
