import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createModelEmbedder, type IndexedDocument, openSearch } from '@parley/search';

import { ModelRunner } from '../packages/search/src/model-runner.ts';
import { BUILT_IN } from '../packages/search/src/model-files.ts';
import { createRuler } from '../packages/search/src/model-reader.ts';
import { wholePassagesOf, windowsOf } from '../packages/search/src/passages.ts';
import { hold, line } from './report.ts';
import { readTasks } from './retrieval-tasks.ts';

const DOCUMENTS = 240;
const REFERENCE = 60;
const ASKED = 40;
const AT_ONCE = 32;
const LONG = 600_000;
const ruler = createRuler(BUILT_IN);

/** How fast vectors are made, and what a question costs meanwhile, each beside what it was measured against. */
export async function benchSearchSpeed(): Promise<void> {
  const scifact = readTasks()?.find(({ name }) => name === 'scifact');
  if (scifact === undefined) return line('search-speed', 'needs BENCH_DATA: a folder with scifact/ (BEIR)');
  const documents = scifact.documents.slice(0, 2 * DOCUMENTS).map(toDocument);
  const questions = scifact.queries.map(({ text }) => text);
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const onFault = (error: unknown): void => line('fault', String(error));
  const embedder = createModelEmbedder(LONG, onFault);
  const search = openSearch({ folder, kind: 'documents', embedder, onFault });
  const ask = async (text: string): Promise<number> => {
    const started = performance.now();
    await search.find({ workspace_id: 'w', text, tags: [], limit: 10 }, LONG, LONG);
    return performance.now() - started;
  };
  try {
    const before = await oneByOne(documents.slice(0, REFERENCE));
    await search.apply(documents.slice(0, DOCUMENTS), []);
    // The processes are there before the time is taken.
    await embedder.embed(
      Array.from({ length: 64 }, (_, i) => `A first sentence ${i} for each process. `.repeat(20)),
    );
    const started = performance.now();
    await search.settled();
    const seconds = (performance.now() - started) / 1_000;
    const texts = documents.slice(0, DOCUMENTS).flatMap(partsOf);
    const times = texts.length / seconds / before.vectors;
    const figure = `${(texts.length / seconds).toFixed(1)}/s, ${times.toFixed(2)} times`;
    hold('search-speed.vectors', times, { figure });
    // Each is of a shorter text than before: what counts for who waits is how much text is read.
    const read = texts.reduce((sum, { length }) => sum + length, 0) / seconds;
    line('text that the model reads', `${(read / before.letters).toFixed(2)} times as much a second`);
    await ask(questions[0] ?? '');
    const quiet = await inTurn(questions.slice(0, ASKED), ask);
    await search.apply(documents.slice(DOCUMENTS), []);
    const busy = await inTurn(questions.slice(ASKED, 2 * ASKED), ask);
    const { pending } = await search.find({ workspace_id: 'w', text: 'x', tags: [], limit: 1 }, LONG, LONG);
    const slower = busy.p50 / quiet.p50;
    const figures = `p50 ${quiet.p50.toFixed(1)} ms, while vectors are made ${busy.p50.toFixed(1)} ms: ${slower.toFixed(2)} times`;
    hold('search-speed.busy', slower, { figure: figures });
    line(
      'the slowest in twenty',
      `${quiet.p95.toFixed(1)} and ${busy.p95.toFixed(1)} ms; ${pending} passages still waited`,
    );
    await search.settled();
    const together = await Promise.all(questions.slice(0, AT_ONCE).map(ask));
    const last = Math.max(...together);
    const after = `the last after ${last.toFixed(0)} ms, ${(last / quiet.p50).toFixed(1)} times one`;
    hold('search-speed.crowd', last, { what: `${AT_ONCE} questions at once`, figure: after });
  } finally {
    await embedder.close();
    await search.close();
    rmSync(folder, { recursive: true });
  }
}

/** As it was before: one process, one passage after the other, passages of 2,000 letters of which the model saw the beginning. */
async function oneByOne(
  documents: readonly IndexedDocument[],
): Promise<{ vectors: number; letters: number }> {
  const runner = new ModelRunner({ choice: BUILT_IN, niceness: 0, idleMs: LONG, onEnded: () => {} });
  const texts = documents.flatMap((one) => wholePassagesOf(one).map(({ text }) => `${one.title}\n${text}`));
  try {
    await runner.call('embed', ['The model is there before the time is taken.']);
    const started = performance.now();
    for (const text of texts) await runner.call('embed', [text]);
    const seconds = (performance.now() - started) / 1_000;
    const seen = (text: string): number => text.length * Math.min(1, BUILT_IN.tokens / ruler.tokensOf(text));
    const letters = texts.reduce((sum, text) => sum + seen(text), 0);
    line('reference, one at a time', `${(texts.length / seconds).toFixed(1)} vectors/s`);
    return { vectors: texts.length / seconds, letters: letters / seconds };
  } finally {
    await runner.close();
  }
}

/** What the model is given of a document. */
function partsOf(document: IndexedDocument): string[] {
  return wholePassagesOf(document).flatMap(({ headings, text }) =>
    windowsOf(document.title, headings, text, ruler),
  );
}

async function inTurn(
  questions: readonly string[],
  ask: (text: string) => Promise<number>,
): Promise<{ p50: number; p95: number }> {
  const taken: number[] = [];
  for (const text of questions) taken.push(await ask(text));
  const sorted = taken.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { p50: at(0.5), p95: at(0.95) };
}

function toDocument([document_id, title, body]: [string, string, string]): IndexedDocument {
  const fixed = { workspace_id: 'w', version: '1', revision: 1, tags: [], mime_type: 'text/plain' };
  return { document_id, title, body, ...fixed };
}
