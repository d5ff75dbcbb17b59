import type { Caller, OutputOf } from '@parley/protocol';
import { expect, test } from 'vitest';

import { openSampleHub } from '../sample-hub.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { Store } from '../store.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const ed: Caller = { agent_id: 'ed', workspace_id: 'w', role: 'operator', session_id: 'ed-1' };
const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** A tree in memory, and how often the store was asked for records. */
function scene() {
  const kept = openMemoryStore();
  const asked = { count: 0 };
  const store: Store = {
    ...kept,
    records: (query) => {
      asked.count++;
      return kept.records(query);
    },
  };
  const clock = { now: NOW };
  const { call } = openSampleHub(store, clock);
  const create = (n: number, body = '', parent_id = 'root') =>
    call(ed, 'create_document', {
      document_id: idOf(n),
      parent_id,
      content: { mime_type: 'text/markdown', body },
      metadata: { title: `page ${n}` },
    });
  return { asked, call, create, clock };
}

test('[KNOW-13] every document that links to one is found, a page at a time', async () => {
  const { call, create, asked } = scene();
  await create(0);
  const count = 1_100;
  for (let n = 1; n <= count; n++) await create(n, `see [[page 0]] and [it](${idOf(0)})`);
  const found: string[] = [];
  let after: string | null | undefined;
  for (let pages = 0; pages < 20 && after !== null; pages++) {
    asked.count = 0;
    const input = { document_id: idOf(0), limit: 100, ...(after === undefined ? {} : { after }) };
    const page = (await call(ed, 'get_document_links', input)) as OutputOf<'get_document_links'>;
    found.push(...page.backlinks.map(({ document_id }) => document_id));
    after = page.next_after;
    expect(asked.count).toBeLessThan(10);
  }
  expect(found).toEqual(Array.from({ length: count }, (_, n) => idOf(n + 1)));
});

test('[KNOW-16] a page of what was deleted looks at some of what is there, and leads on', async () => {
  const { call, create, asked, clock } = scene();
  const count = 1_200;
  for (let n = 1; n <= count; n++) await create(n);
  await call(ed, 'delete_document', { document_id: idOf(count) });
  clock.now += 1;
  const found: string[] = [];
  let after: string | null | undefined;
  let pages = 0;
  for (; pages < 20 && after !== null; pages++) {
    asked.count = 0;
    const input = { parent_id: 'root', deleted: true, limit: 5, ...(after === undefined ? {} : { after }) };
    const page = (await call(ed, 'list_documents', input)) as OutputOf<'list_documents'>;
    found.push(...page.documents.map(({ document_id }) => document_id));
    after = page.next_after;
    expect(asked.count).toBeLessThan(15);
  }
  expect(found).toEqual([idOf(count)]);
  expect(pages).toBe(3);
});
