import { setTimeout as pause } from 'node:timers/promises';

import type { Client } from '@parley/client';
import type { InputOf } from '@parley/protocol';
import { expect, test } from 'vitest';

import type { FolderPage } from './layout.ts';
import { sendPages } from './send-pages.ts';

function page(id: string, parent_id?: string): FolderPage {
  return {
    path: undefined,
    document_id: id,
    parent_id,
    mime_type: 'text/markdown',
    metadata: { title: id },
    is_human_readable: true,
  };
}

test('[KNOW-13] several calls are on their way at once; parents are there before children, siblings keep their order', async () => {
  const folders = Array.from({ length: 8 }, (_, i) => page(`f${i}`));
  const files = folders.flatMap((one) =>
    Array.from({ length: 100 }, (_, i) =>
      page(`${one.document_id}-${String(i).padStart(3, '0')}`, one.document_id),
    ),
  );
  const there: string[] = [];
  let underWay = 0;
  let most = 0;
  const client = {
    async import_documents({ documents }: InputOf<'import_documents'>) {
      underWay++;
      most = Math.max(most, underWay);
      await pause(20);
      underWay--;
      return {
        results: documents.map(({ document_id, parent_id }) => {
          expect(parent_id === 'root' || there.includes(parent_id), document_id).toBe(true);
          there.push(document_id);
          return { document_id, outcome: 'created' };
        }),
      };
    },
    // The one call that is made of it.
  } as unknown as Client;
  // Children stand before their parents in the list: the order is found.
  const counts = await sendPages(client, {
    folder: '.',
    to: 'root',
    pages: [...files, ...folders],
    skipped: [],
  });
  expect(counts).toEqual({ created: 808, updated: 0, unchanged: 0 });
  expect(most).toBe(4);
  for (const { document_id } of folders) {
    const children = there.filter((id) => id.startsWith(`${document_id}-`));
    expect(children).toEqual(children.toSorted());
  }
});
