import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { sqliteModule } from '@parley/sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';

import { createModelEmbedder, type Embedder } from './embedder.ts';
import { BUILT_IN } from './model-files.ts';
import { createRuler } from './model-reader.ts';
import { INDEX_FILES, openSearch, type Search } from './open-search.ts';
import { wholePassagesOf, windowsOf } from './passages.ts';
import { page } from './search-contract.ts';
import { cosine } from './vectors.ts';

const LONG = 120_000;
let faults: string[];
let embedder: Embedder;
let search: Search;
let folder: string;

const onFault = (error: unknown): void => void faults.push(String(error));
beforeAll(() => {
  embedder = createModelEmbedder(300_000, onFault);
});
afterAll(() => embedder.close());
beforeEach(() => {
  faults = [];
  folder = mkdtempSync(join(tmpdir(), 'parley-model-'));
  search = openSearch({ folder, kind: 'documents', embedder, onFault });
});
afterEach(async () => {
  await search.close();
  rmSync(folder, { recursive: true });
});

/** The processes of the model that this one started. */
function models(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const isOurs =
          readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(process.pid);
        return isOurs && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('model-process');
      } catch {
        return false;
      }
    })
    .map(Number);
}

const ask = async (text: string) => search.find({ workspace_id: 'w1', text, tags: [], limit: 3 }, LONG, LONG);

test(
  '[KNOW-17] a model that was killed comes back, and the vectors that are missing are made',
  { timeout: LONG },
  async () => {
    await search.apply([page('cats', 'Felines sleep most of the day.')], []);
    await search.settled();
    expect((await ask('when do pets rest?')).passages[0]?.document_id).toBe('cats');
    // While vectors are made and a question is under way.
    const many = Array.from({ length: 40 }, (_, i) =>
      page(`p${i}`, `The release number ${i} goes out on Friday, when the pipeline is green. `.repeat(4)),
    );
    await search.apply(many, []);
    await vi.waitFor(() => expect(models().length).toBeGreaterThan(1), LONG);
    const killed = models();
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    await search.settled();
    const found = await ask('how do we deploy a new version?');
    expect(found).toMatchObject({ lacks: [], pending: 0 });
    expect(found.vector_hits).toBeGreaterThan(0);
    expect(found.passages[0]?.document_id).toMatch(/^p\d/);
    expect(models().some((pid) => killed.includes(pid))).toBe(false);
    expect(embedder.fault).toBeUndefined();
    expect(faults.every((one) => one.includes('until the search model is back'))).toBe(true);
  },
);

test('[KNOW-17] the model reads every passage to its end', { timeout: LONG }, async () => {
  const body = Array.from(
    { length: 24 },
    (_, i) => `Paragraph ${i} lists the furniture of the office: chairs, tables, lamps and shelves of oak.`,
  ).join(' ');
  const ruler = createRuler(BUILT_IN);
  const passages = wholePassagesOf({ mime_type: 'text/plain', body });
  const texts = passages.flatMap(({ headings, text }) => windowsOf('Furniture', headings, text, ruler));
  expect(texts.length).toBeGreaterThan(passages.length);
  const others = texts.map((text) => `${text.slice(0, -150)}The whale dives for hours in the deep sea.`);
  const made = (await embedder.embed([...texts, ...others])) ?? [];
  for (const [i] of texts.entries()) {
    const [a, b] = [made[i], made[texts.length + i]];
    if (!a || !b) throw new Error('there are no vectors');
    expect(cosine(a, b)).toBeLessThan(0.995);
  }
});

test(
  '[KNOW-17] an index whose texts were cut in another way answers on while they are put anew',
  { timeout: LONG },
  async () => {
    const long = `${'The pump of the block was closed in the evening. '.repeat(30)}Felines sleep most of the day.`;
    const documents = [page('long', long), page('short', 'The release goes out on Friday.')];
    await search.apply(documents, [], { workspace_id: 'w1', pos: 7 });
    await search.settled();
    await search.close();
    // As the release before left it: passages by letters, no word of a form.
    const file = join(folder, INDEX_FILES.documents);
    const { measure: _, ...byLettersAlone } = { ...embedder, measure: undefined };
    rmSync(file);
    const old = openSearch({
      folder,
      kind: 'documents',
      embedder: { ...byLettersAlone, fault: undefined },
      onFault: () => {},
    });
    await old.apply(documents, [], { workspace_id: 'w1', pos: 7 });
    await old.settled();
    await old.close();
    const db = new (sqliteModule().DatabaseSync)(file);
    db.exec("UPDATE documents SET version = '1'; DELETE FROM state WHERE name IN ('form', 'tally')");
    const had = db.prepare('SELECT count(*) AS n FROM passages').get();
    db.close();
    expect(had).toEqual({ n: 2 });

    search = openSearch({
      folder,
      kind: 'documents',
      embedder,
      onFault: (error) => void faults.push(String(error)),
    });
    // All is held against it, and meanwhile it answers.
    expect(await search.place('w1')).toBeUndefined();
    expect(await search.known('w1')).toEqual([
      { document_id: 'long', version: '' },
      { document_id: 'short', version: '' },
    ]);
    expect((await ask('felines')).passages[0]?.document_id).toBe('long');
    await search.apply(documents, [], { workspace_id: 'w1', pos: 7 });
    expect(await search.place('w1')).toBe(7);
    expect(await search.known('w1')).toEqual([
      { document_id: 'long', version: '1' },
      { document_id: 'short', version: '1' },
    ]);
    // What reads as it did keeps its vector; of the long text the model had seen the beginning alone.
    expect((await ask('felines')).pending).toBe(1);
    await search.settled();
    // The end of the long text, which the model had not seen, is found by what it means.
    const query = { workspace_id: 'w1', text: 'when do pets rest?', tags: [], limit: 3 };
    const { passages } = await search.find({ ...query, leg: 'vectors' }, LONG, LONG);
    expect(passages[0]?.document_id).toBe('long');
    expect(faults).toEqual([]);
  },
);
