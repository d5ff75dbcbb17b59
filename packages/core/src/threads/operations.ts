import { LIMITS, ParleyError, threadId, ulid } from '@parley/protocol';

import { operation, stamp } from '../operation.ts';
import { admitReader, checkThreadScope, workspaceTag } from './access.ts';
import { findThread } from './find-thread.ts';
import { preview } from './preview.ts';
import { toThread } from './state.ts';
import { mayOverride } from './status.ts';
import { summarize } from './summary.ts';

export const createThread = operation('create_thread', {
  authority: 'act',
  async run(deps, caller, input) {
    const { idempotency_key, ...content } = input;
    const id = threadId(ulid(deps.clock.now(), deps.chance.bytes(16)), workspaceTag(caller.workspace_id));
    const head = stamp(deps, caller, 'create_thread', idempotency_key);
    const { result } = await deps.log.append({
      type: 'create_thread',
      ...head,
      thread_id: id,
      input: content,
    });
    return result as never;
  },
});

export const getThread = operation('get_thread', {
  authority: 'look',
  async run(deps, caller, { thread_id }) {
    return toThread(await findThread(deps, caller, thread_id));
  },
});

export const listThreads = operation('list_threads', {
  authority: 'look',
  async run(deps, caller, input) {
    const { rows, has_more } = await deps.store.threads({
      workspace_id: caller.workspace_id,
      participant: mayOverride(caller) ? undefined : caller.agent_id,
      reader: caller.agent_id,
      status: input.status,
      unread: input.unread ?? false,
      limit: Math.min(input.limit, LIMITS.page_max),
      max_bytes: LIMITS.page_bytes,
      before: input.before === undefined ? undefined : decodeBefore(input.before),
    });
    const last = rows.at(-1)?.state;
    return {
      threads: rows.map(({ state, last_read_seq }) => ({
        ...toThread(state),
        unread: Math.max(0, state.last_seq - last_read_seq),
      })),
      next_before: has_more && last !== undefined ? `${last.updated_at}~${last.thread_id}` : null,
    };
  },
});

export const previewThreads = operation('preview_threads', {
  authority: 'look',
  async run(deps, caller, { thread_ids }) {
    const found = await Promise.all([...new Set(thread_ids)].map((id) => preview(deps, caller, id)));
    return { previews: found.filter((one) => one !== undefined) };
  },
});

export const updateThreadStatus = operation('update_thread_status', {
  authority: 'act',
  async run(deps, caller, input) {
    const { thread_id, idempotency_key, ...content } = input;
    checkThreadScope(thread_id, caller);
    const head = stamp(deps, caller, `update_status:${thread_id}`, idempotency_key);
    const { result } = await deps.log.append({ type: 'update_status', ...head, thread_id, input: content });
    return result as never;
  },
});

export const renameThread = operation('rename_thread', {
  authority: 'act',
  async run(deps, caller, { thread_id, idempotency_key, title }) {
    checkThreadScope(thread_id, caller);
    const head = stamp(deps, caller, `rename:${thread_id}`, idempotency_key);
    const { result } = await deps.log.append({ type: 'rename_thread', ...head, thread_id, input: { title } });
    return result as never;
  },
});

export const summarizeThread = operation('summarize_thread', {
  authority: 'look',
  async run(deps, caller, { thread_id, max_messages }, { signal }) {
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
