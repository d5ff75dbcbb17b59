import {
  type AgentView,
  type Ask,
  type AskVerdict,
  readAll,
  type ThreadEvent,
  type ThreadStatus,
  fieldsOf,
} from '@parley/protocol';

import { acknowledge } from './acknowledge.ts';
import { call, read } from './api.ts';
import { beginLists, fetchUnread, keep, recount, threadCounts } from './thread-pages.ts';
import { openLog } from './thread-log.ts';
import {
  agents,
  asks,
  me,
  openAsks,
  presence,
  previews,
  threads,
  type ThreadRow,
  treeEvents,
} from './state.ts';

/** How long a request stays in sight once the agent has the verdict, and while it has not taken it yet. */
const SETTLED_MS = 6_000;
const UNTAKEN_MS = 60_000;

/** So many threads are fetched at once, and so many of what is unread; lists fetch more as somebody goes down. */
const NEWEST = 50;
const UNREAD = 20;

/** Fetches all that the lists show, as it stands now. */
export async function loadSnapshot(): Promise<void> {
  const [, open] = await Promise.all([loadThreads(), everyAsk(), loadAgents()]);
  // What was begun or went wrong here while the list was on its way is no news to the hub.
  asks.value = new Map(open.map((ask) => [ask.ask_id, { ...asks.value.get(ask.ask_id), ask }]));
}

/** How many agents, and open requests, the lists hold. */
const MOST = 2_000;

/** The hub lists the newest first: who waits longest, and is denied next, stands at the end. */
function everyAsk(): Promise<Ask[]> {
  return readAll(
    async ({ limit, after: before }) => {
      const page = await call('list_asks', { limit, ...(before === undefined ? {} : { before }) });
      return { ...page, next_after: page.next_before };
    },
    (page) => page.asks,
    MOST,
  );
}

function everyAgent(): Promise<AgentView[]> {
  return readAll(
    (place) => call('list_agents', place),
    (page) => page.agents,
    MOST,
  );
}

let loading: Promise<void> | undefined;
let again = false;

/** Fetches the agents; while that is under way a further wish waits for its end. */
export function loadAgents(): Promise<void> {
  if (loading !== undefined) {
    again = true;
    return loading;
  }
  loading = Promise.all([everyAgent(), openAsks.value === 0 ? undefined : refreshAsks()])
    .then(([found]) => {
      agents.value = found;
    })
    .finally(() => {
      loading = undefined;
      if (!again) return;
      again = false;
      void loadAgents().catch(() => {});
    });
  return loading;
}

/** Whose agent is gone is told by no entry of the log: it is looked at when agents come and go. */
async function refreshAsks(): Promise<void> {
  const fresh = new Map((await everyAsk()).map((ask) => [ask.ask_id, ask]));
  asks.value = new Map(
    [...asks.value].map(([id, row]) => {
      const ask = fresh.get(id);
      return [id, ask === undefined || row.ask.status !== 'open' ? row : { ...row, ask }];
    }),
  );
}

async function loadThreads(): Promise<void> {
  const page = await call('list_threads', { limit: NEWEST, counts: true });
  const listed = new Set(page.threads.map(({ thread_id }) => thread_id));
  // A thread that somebody looks at stays, also when it is none of the newest.
  const looked = [...(threads.value?.keys() ?? [])].filter(
    (id) => openLog(id) !== undefined && !listed.has(id),
  );
  const older = await Promise.all(looked.map((id) => readThread(id).catch(() => undefined)));
  beginLists();
  named.clear();
  threads.value = new Map(older.flatMap((one) => (one === undefined ? [] : [[one.thread_id, one]])));
  previews.value = new Map();
  threadCounts.value = page.counts;
  await Promise.all([keep(page.threads), fetchUnread(UNREAD)]);
}

function readThread(threadId: string): Promise<ThreadRow> {
  return read<ThreadRow>(`/v1/threads/${encodeURIComponent(threadId)}`);
}

/** Fetches one thread that is new, or whose settings have changed. */
export async function loadThread(threadId: string): Promise<void> {
  const thread = await readThread(threadId);
  // The stream may have told of more than this answer knows.
  const known = threads.value?.get(threadId);
  if ((known?.last_seq ?? 0) > thread.last_seq) return loadThread(threadId);
  // What was read here may still be on its way to the hub.
  putThread(
    known !== undefined && known.last_read_seq > thread.last_read_seq
      ? { ...thread, last_read_seq: known.last_read_seq, unread: Math.min(thread.unread, known.unread) }
      : thread,
  );
}

/** Threads that were asked for since the lists began. */
const named = new Set<string>();

/** A thread that something on the page names; one that no list has brought is fetched. */
export function threadNamed(id: string): ThreadRow | undefined {
  const known = threads.value?.get(id);
  if (known === undefined && threads.value !== undefined && !named.has(id)) {
    named.add(id);
    void loadThread(id).catch(() => {});
  }
  return known;
}

function putThread(thread: ThreadRow): void {
  threads.value = new Map(threads.value).set(thread.thread_id, thread);
}

/** The person has taken in all up to a message; so many of others are left after it. */
export function markRead(threadId: string, seq: number, unread = 0): void {
  const thread = threads.value?.get(threadId);
  if (thread === undefined || me.value?.read_only === true || seq <= thread.last_read_seq) return;
  putThread({ ...thread, last_read_seq: seq, unread });
  acknowledge(threadId, seq);
  recount();
}

/** Brings the page up to date with what happened, in the order it happened. */
export function apply(events: readonly ThreadEvent[]): void {
  let anyPresence = false;
  const nextThreads = new Map(threads.value);
  const stale = new Set<string>();
  const ofTree = events.filter(isOfTree);
  if (ofTree.length > 0) treeEvents.value = ofTree;
  for (const event of events) {
    // The log of the documents is no conversation.
    if (isOfTree(event)) continue;
    if (event.type === 'presence' && event.meta.seq === undefined) {
      applyPresence(event);
      anyPresence = true;
      continue;
    }
    openLog(event.thread)?.add(event);
    applyAsk(event);
    const thread = nextThreads.get(event.thread);
    const seq = event.meta.seq ?? 0;
    if (thread === undefined) stale.add(event.thread);
    else if (seq > thread.last_seq) {
      nextThreads.set(event.thread, {
        ...thread,
        last_seq: seq,
        updated_at: event.ts,
        unread: thread.unread + (event.from === me.value?.agent_id ? 0 : seq - thread.last_seq),
        ...changed(event),
      });
      if (event.type === 'control') stale.add(event.thread);
    }
  }
  if (threads.value !== undefined) threads.value = nextThreads;
  void showLast(events);
  for (const id of stale) void loadThread(id).catch(() => {});
  if (events.some(({ meta }) => meta.seq !== undefined)) recount();
  if (anyPresence) void loadAgents().catch(() => {});
}

function changed({ content }: ThreadEvent): Partial<ThreadRow> {
  // The hub tells by its contract.
  const control = content as {
    'thread.status'?: { to?: ThreadStatus };
    'thread.renamed'?: { title?: string };
  } | null;
  if (control === null || typeof control !== 'object') return {};
  const status = control['thread.status']?.to;
  const title = control['thread.renamed']?.title;
  return { ...(status === undefined ? {} : { status }), ...(title === undefined ? {} : { title }) };
}

/** True for what tells of a document; the log of the documents begins with an entry that says it is one. */
function isOfTree({ type, content }: ThreadEvent): boolean {
  if (type !== 'control') return false;
  const [[verb, reported] = ['', undefined]] = Object.entries<unknown>(fieldsOf(content));
  return verb.startsWith('document.') || fieldsOf(reported)['tree'] === true;
}

/** What was said last, without its marks; what takes them away is not needed before somebody speaks. */
async function showLast(events: readonly ThreadEvent[]): Promise<void> {
  const { lastWords } = await import('./last-words.ts');
  previews.value = new Map([...previews.value, ...lastWords(events)]);
}

function applyPresence({ thread, from, content }: ThreadEvent): void {
  const state = String(fieldsOf(content)['state']);
  const there = new Map(presence.value.get(thread));
  if (state === 'offline') there.delete(from);
  else there.set(from, state);
  presence.value = new Map(presence.value).set(thread, there);
}

interface AskNews {
  ask_id: string;
  status: Ask['status'];
  expires_at: string;
  ask: Partial<Ask>;
  verdict?: AskVerdict;
  resolved_at?: string;
}

function applyAsk({ type, content, from, thread, ts, id = '' }: ThreadEvent): void {
  if (type !== 'control') return;
  const [[verb, reported] = ['', undefined]] = Object.entries<unknown>(fieldsOf(content));
  if (!verb.startsWith('ask.')) return;
  // The hub tells by its contract.
  const news = reported as AskNews;
  const row = asks.value.get(news.ask_id);
  if (verb === 'ask.raised') {
    // What the hub tells of an ask, and beside it what every event has.
    const ask = {
      ...news.ask,
      ask_id: news.ask_id,
      agent_id: from,
      thread_id: thread,
      message_id: `msg_${id}`,
      status: 'open',
      created_at: ts,
      expires_at: news.expires_at,
    } as Ask;
    if (row === undefined) asks.value = new Map(asks.value).set(news.ask_id, { ask });
    return;
  }
  if (row !== undefined) settle({ ...row.ask, ...pick(news) });
}

function pick({ status, verdict, resolved_at }: AskNews): Partial<Ask> {
  return {
    status,
    ...(verdict === undefined ? {} : { verdict }),
    ...(resolved_at === undefined ? {} : { resolved_at }),
  };
}

/** Shows an ask as the hub says it stands; a settled one leaves after a while, and sooner once the agent has it. */
export function settle(ask: Ask): void {
  const before = asks.value.get(ask.ask_id);
  if (before === undefined) return;
  // An older word must not undo a newer one.
  const steps = ['open', 'answering', 'resolved'];
  const newest = steps.indexOf(ask.status) >= steps.indexOf(before.ask.status) ? ask : before.ask;
  asks.value = new Map(asks.value).set(ask.ask_id, { ask: newest });
  if (newest.status !== 'open')
    setTimeout(() => leave(newest), newest.status === 'resolved' ? SETTLED_MS : UNTAKEN_MS);
}

/** Takes an ask out of sight, unless it has moved on since. */
function leave({ ask_id, status }: Ask): void {
  if (asks.value.get(ask_id)?.ask.status !== status) return;
  const rest = new Map(asks.value);
  rest.delete(ask_id);
  asks.value = rest;
}
