import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import type { IndexedDocument } from './index-words.ts';
import { BUILT_IN, DIMENSIONS } from './model-files.ts';
import { openIndex } from './open-index.ts';
import { PassageIndex } from './passage-index.ts';
import { formOf } from './index-form.ts';
import { byLetters } from './ruler.ts';

function fresh(): PassageIndex {
  const folder = mkdtempSync(join(tmpdir(), 'parley-index-'));
  const db = openIndex(join(folder, 'search.db'));
  onTestFinished(() => {
    db.close();
    rmSync(folder, { recursive: true });
  });
  return new PassageIndex(db, BUILT_IN.name, byLetters, formOf(undefined));
}

const page = (body: string, revision: number): IndexedDocument => ({
  workspace_id: 'w1',
  document_id: 'd1',
  version: String(revision),
  revision,
  title: '',
  tags: [],
  mime_type: 'text/plain',
  body,
});

test('[KNOW-17] a vector that comes after its text was changed is not taken for one of the new text', () => {
  const index = fresh();
  const vector = new Float32Array(DIMENSIONS).fill(1 / Math.sqrt(DIMENSIONS));
  index.apply([page('The old text.', 1)], [], undefined);
  const old = index.waiting(9);
  index.apply([page('The new text.', 2)], [], undefined);
  index.embed(old.map(({ passage }) => ({ passage, vectors: [vector] })));
  expect(index.waiting(9).map(({ texts }) => texts)).toEqual([['The new text.']]);
  const query = { workspace_id: 'w1', text: 'anything', tags: [], limit: 5, leg: 'vectors' } as const;
  expect(index.find(query, { vector, isSure: true }).passages).toEqual([]);
});
