import { treeId } from '@parley/core';
import type { OutputOf } from '@parley/protocol';
import { beforeAll, expect, test } from 'vitest';

import { timed } from '../harness/latency.ts';
import { fillRecord } from '../harness/fill-record.ts';
import { freshFolder } from '../harness/start-hub.ts';
import { useHub } from '../harness/use-hub.ts';
import { WITHOUT_MODEL } from '../harness/without-model.ts';
import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';

const { documents: COUNT } = sizeOf('C-ENV-18');
const MIDDLE = COUNT / 2;
const data = freshFolder();

/** Each hangs under the one before it. */
const nth = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

// One call after another would take minutes; the store takes the same commands in batches.
beforeAll(async () => {
  const caller = { agent_id: 'ed', workspace_id: 'w1', role: 'orchestrator', session_id: 's' } as const;
  await fillRecord(
    data,
    Array.from({ length: COUNT }, (_, n) => ({
      type: 'create_document',
      caller,
      now: Date.now(),
      salt: n,
      thread_id: treeId('w1'),
      agents_create_under: [],
      input: {
        document_id: nth(n),
        parent_id: n === 0 ? 'root' : nth(n - 1),
        content: { mime_type: 'text/plain', body: `${n}` },
        metadata: { title: `${n}` },
        is_human_readable: true,
      },
    })),
  );
}, 300_000);

const scene = useHub({ data, settings: WITHOUT_MODEL });

/** The step comes to its end, and in time. */
async function within(step: string, run: () => Promise<unknown>): Promise<void> {
  const ms = await timed(run);
  measured('C-ENV-18', step, `${Math.round(ms)} ms`);
  expect(ms, step).toBeLessThan(sizeOf('C-ENV-18').eachMs);
}

test('[KNOW-16] [C-ENV-18] a chain of very many documents is moved, deleted, restored and exported', async () => {
  const ed = scene.as('ed', { role: 'orchestrator' });
  const last = COUNT - 1;
  await ed.refused('move_document', { document_id: nth(0), new_parent_id: nth(last) }, 'CONFLICT');
  await within('move', () => ed.ok('move_document', { document_id: nth(MIDDLE), new_parent_id: 'root' }));
  await within('back', () =>
    ed.ok('move_document', { document_id: nth(MIDDLE), new_parent_id: nth(MIDDLE - 1) }),
  );
  await within('delete', () => ed.ok('delete_document', { document_id: nth(0) }));
  await ed.refused('get_document', { document_id: nth(last) }, 'NOT_FOUND');
  await within('restore', () => ed.ok('restore_document', { document_id: nth(0) }));
  const found = new Map<string, string>();
  await within('export', async () => {
    for (let after: string | null = ''; after !== null;) {
      const page: OutputOf<'export_documents'> = await ed.ok('export_documents', {
        limit: 200,
        ...(after === '' ? {} : { after }),
      });
      for (const { document_id, content } of page.documents) found.set(document_id, content.body);
      after = page.next_after;
    }
  });
  expect(found.size).toBe(COUNT);
  expect(found.get(nth(last))).toBe(`${last}`);
}, 300_000);
