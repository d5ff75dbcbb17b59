import { hash } from 'node:crypto';

import { LIMITS, ParleyError } from '@parley/protocol';

import { requireDone } from '../envelope/order.ts';
import { operation } from '../operation.ts';
import type { AboutPorts, KnowledgePorts, RecordPorts } from '../ports.ts';
import { findThread } from '../threads/find-thread.ts';
import { createDocument } from './operations.ts';
import { createThreadDocument } from './thread-document.ts';

export const promoteThread = operation('promote_thread', {
  authority: 'act',
  async run(deps: RecordPorts & KnowledgePorts & AboutPorts, caller, input, context) {
    const { thread_id, parent_id, document_id, title, tags, idempotency_key } = input;
    const state = await findThread(deps, caller, thread_id);
    if (state.status !== 'resolved' && state.status !== 'closed')
      throw new ParleyError(
        'CONFLICT',
        `the thread is ${state.status}; what is not settled is no knowledge yet: resolve it first`,
      );
    const document = createThreadDocument();
    const { workspace_id } = caller;
    for (let after = 0, more = true; more && !context.signal.aborted;) {
      const query = { workspace_id, thread_id, after, limit: LIMITS.page_max, max_bytes: LIMITS.page_bytes };
      const page = await deps.log.read(query);
      document.add(page.entries);
      after = page.entries.at(-1)?.seq ?? after;
      more = page.has_more;
    }
    const { body, cited } = document.write(state);
    const created = await createDocument.run(
      deps,
      caller,
      {
        document_id: document_id ?? documentIdOf(thread_id),
        parent_id,
        content: { mime_type: 'text/markdown', body },
        metadata: { title: title ?? state.title, source: thread_id, through_seq: state.last_seq, tags },
        is_human_readable: true,
        idempotency_key,
      },
      context,
    );
    return { ...requireDone(created), thread_id, cited };
  },
});

/** One thread has one document of its own choice: who promotes it twice is told that it is there. */
function documentIdOf(threadId: string): string {
  const digits = hash('sha256', `promoted ${threadId}`, 'hex');
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `a${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}
