import { type Caller, folderOf, LIMITS, type OutputOf, ParleyError, threadId, ulid } from '@parley/protocol';

import { operation, stamp } from '../operation.ts';
import type { MessagePorts, RecordPorts } from '../ports.ts';
import { everyWithPrefix } from '../record-pages.ts';
import type { Reading } from '../store.ts';
import { admitReader, checkThreadScope, workspaceTag } from './access.ts';
import { findThread } from './find-thread.ts';
import { preview } from './preview.ts';
import { withClosedSides } from './closed-sides.ts';
import { countAllThreads } from './count-all.ts';
import { type ThreadState, toThread } from './state.ts';
import { mayOverride } from './status.ts';
import { summarize } from './summary.ts';
import { unreadFor } from './unread.ts';

const createThread = operation('create_thread', {
  authority: 'act',
  async run(deps: RecordPorts, caller, input) {
    const { idempotency_key, ...content } = input;
    const id = threadId(ulid(deps.clock.now(), deps.chance.bytes(16)), workspaceTag(caller.workspace_id));
    const head = stamp(deps, caller, 'create_thread', idempotency_key);
    const { result } = await deps.log.append({
      type: 'create_thread',
      ...head,
      thread_id: id,
      input: content,
    });
    return result;
  },
});

const getThread = operation('get_thread', {
  authority: 'look',
  async run(deps: RecordPorts, caller, { thread_id }) {
    const thread = await findThread(deps, caller, thread_id);
    const reading = await deps.store.reading(thread_id, caller.agent_id, caller.workspace_id);
    return withClosedSides(deps, withReading(thread, reading));
  },
});

const listThreads = operation('list_threads', {
  authority: 'look',
  async run(deps: RecordPorts, caller, input) {
    const { unread = false, status, group, text, counts = false } = input;
    const who = {
      workspace_id: caller.workspace_id,
      participant: mayOverride(caller) ? undefined : caller.agent_id,
      reader: caller.agent_id,
      ...(text === undefined ? {} : { text }),
      ...(await withAny(deps, caller, input)),
    };
    const counting = counts ? countAllThreads(deps.store, who) : undefined;
    const query = {
      ...who,
      status,
      unread,
      ...(group === undefined ? {} : { group }),
      max_bytes: LIMITS.page_bytes,
    };
    const limit = Math.min(input.limit, LIMITS.page_max);
    const threads: OutputOf<'list_threads'>['threads'] = [];
    let before = input.before === undefined ? undefined : decodeBefore(input.before);
    // A page of the store may be short where few are wanted of many, and the next is looked at.
    for (let page = 0; page < MOST_PAGES; page++) {
      const { rows, next } = await deps.store.threads({ ...query, limit: limit - threads.length, before });
      threads.push(...rows.map(({ state, ...reading }) => withReading(state, reading)));
      before = next;
      if (before === undefined || threads.length >= limit) break;
    }
    return {
      threads,
      next_before: before === undefined ? null : `${before.updated_at}~${before.thread_id}`,
      ...(counting === undefined ? {} : { counts: await counting }),
    };
  },
});

/** Whose threads are wanted: of one agent, or of those who work in a folder. */
async function withAny(
  { store }: RecordPorts,
  { workspace_id }: Caller,
  { with_agent, folder }: { with_agent?: string | undefined; folder?: string | undefined },
): Promise<{ with_any?: string[] }> {
  if (folder === undefined) return with_agent === undefined ? {} : { with_any: [with_agent] };
  const everyone = { kind: 'agent', workspace_id, prefix: '' } as const;
  const agents = await everyWithPrefix(store, everyone, ({ agent_id }) => agent_id);
  const root = folder.replace(/(?<=.)\/+$/, '');
  const isThere = (place: string | undefined): boolean =>
    place === root || place?.startsWith(root === '/' ? root : `${root}/`) === true;
  const names = agents.filter((agent) => isThere(folderOf(agent))).map(({ agent_id }) => agent_id);
  return { with_any: names.filter((name) => with_agent === undefined || name === with_agent) };
}

/** How many pages of the store are looked at for one. */
const MOST_PAGES = 10;

function withReading(state: ThreadState, reading: Reading): OutputOf<'get_thread'> {
  const { last_read_seq, last_acked_message_id } = reading;
  return { ...toThread(state), last_read_seq, last_acked_message_id, unread: unreadFor(state, reading) };
}

const previewThreads = operation('preview_threads', {
  authority: 'look',
  async run(deps: RecordPorts, caller, { thread_ids }) {
    const found = await Promise.all([...new Set(thread_ids)].map((id) => preview(deps, caller, id)));
    return { previews: found.filter((one) => one !== undefined) };
  },
});

const updateThreadStatus = operation('update_thread_status', {
  authority: 'act',
  async run(deps: RecordPorts, caller, input) {
    const { thread_id, idempotency_key, ...content } = input;
    checkThreadScope(thread_id, caller);
    const head = stamp(deps, caller, `update_status:${thread_id}`, idempotency_key);
    const { result } = await deps.log.append({ type: 'update_status', ...head, thread_id, input: content });
    return result;
  },
});

const renameThread = operation('rename_thread', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { thread_id, idempotency_key, title }) {
    checkThreadScope(thread_id, caller);
    const head = stamp(deps, caller, `rename:${thread_id}`, idempotency_key);
    const { result } = await deps.log.append({ type: 'rename_thread', ...head, thread_id, input: { title } });
    return result;
  },
});

const summarizeThread = operation('summarize_thread', {
  authority: 'look',
  async run(deps: RecordPorts & MessagePorts, caller, { thread_id, max_messages }, { signal }) {
    checkThreadScope(thread_id, caller);
    const query = {
      workspace_id: caller.workspace_id,
      thread_id,
      limit: max_messages,
      max_bytes: LIMITS.summary_bytes,
    };
    const page = await deps.store.tail(query);
    return summarize(admitReader(page.located, caller), page.entries, deps.prose, signal);
  },
});

function decodeBefore(text: string): { updated_at: string; thread_id: string } {
  const [updated_at, thread_id] = text.split('~');
  if (updated_at === undefined || thread_id === undefined || Number.isNaN(Date.parse(updated_at))) {
    throw new ParleyError('VALIDATION_ERROR', 'before: must be the next_before of an earlier page', {
      field: 'before',
    });
  }
  return { updated_at, thread_id };
}

/** By name: the table of operations takes them from here. */
export const threadOperations = {
  create_thread: createThread,
  get_thread: getThread,
  list_threads: listThreads,
  update_thread_status: updateThreadStatus,
  summarize_thread: summarizeThread,
  rename_thread: renameThread,
  preview_threads: previewThreads,
};
