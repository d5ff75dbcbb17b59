import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createModelEmbedder, openSearch } from '@parley/search';
import { noModel, page, searchContract } from '@parley/search/search-contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type QdrantProcess, startQdrant } from '../harness/qdrant.ts';
import { describeWith } from '../tools/describe-with.ts';

describeWith(['qdrant'], 'an index in Qdrant', ({ qdrant: program }) => {
  let qdrant: QdrantProcess;
  const folder = mkdtempSync(join(tmpdir(), 'parley-search-'));
  const faults: unknown[] = [];
  const onFault = (error: unknown): void => void faults.push(error);
  const embedder = createModelEmbedder(300_000, onFault);
  const open = (key = qdrant.key, by = embedder) =>
    openSearch({
      folder,
      kind: 'documents',
      embedder: by,
      qdrant: { url: qdrant.url, key, timeoutMs: 20_000 },
      onFault,
    });
  beforeAll(async () => {
    qdrant = await startQdrant(program);
  });
  afterAll(async () => {
    await embedder.close();
    await qdrant.close();
    rmSync(folder, { recursive: true });
    expect(faults).toEqual([]);
  });

  describe('does what the embedded one does', () => {
    searchContract(
      (model) => open(qdrant.key, model === 'none' ? noModel(embedder) : embedder),
      () => qdrant.empty(),
    );
  });

  test('[KNOW-17] a wrong key is UNAVAILABLE, and no key is told', async () => {
    const search = open('not-the-right-key');
    const refused = await search.place('w1').catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'UNAVAILABLE' });
    expect(String(refused)).not.toContain('not-the-right-key');
    await search.close();
  });

  test('[KNOW-17] vectors of another model stand in a collection of their own, and the old one goes', async () => {
    await qdrant.empty();
    const first = open();
    await first.apply([page('d', 'The harbour is closed.')], [], { workspace_id: 'w1', pos: 5 });
    await first.close();
    const [old] = await qdrant.collections();
    const other = { ...embedder, fault: undefined, model: { id: 'another', dimensions: 384 } };
    const place = { url: qdrant.url, key: qdrant.key, timeoutMs: 20_000 };
    const second = openSearch({ folder, kind: 'documents', embedder: other, qdrant: place, onFault });
    expect(await second.place('w1')).toBeUndefined();
    await second.close();
    const left = await qdrant.collections();
    expect(left).toHaveLength(1);
    expect(left).not.toContain(old);
  });

  test('[KNOW-17] a collection that was lost is not taken for an empty one, until its place is asked for', async () => {
    await qdrant.empty();
    const search = open();
    await search.apply([page('d', 'The harbour is closed.')], [], { workspace_id: 'w1', pos: 5 });
    await qdrant.empty();
    const query = { workspace_id: 'w1', text: 'harbour', tags: [], limit: 5 };
    for (const _ of [1, 2])
      await expect(search.find(query, 20_000)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await search.place('w1')).toBeUndefined();
    expect((await search.find(query, 20_000)).passages).toEqual([]);
    await search.close();
    // What was being given its vector when all went is told of, as it should be.
    faults.length = 0;
  });
});
