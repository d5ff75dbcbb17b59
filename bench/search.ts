import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  chooseModel,
  createModelEmbedder,
  type IndexedDocument,
  openSearch,
  type Search,
} from '@parley/search';

import { startQdrant } from '../tests/harness/qdrant.ts';
import { tool } from '../tests/tools/tools.ts';
import { codeTask, nameTask } from './code-task.ts';
import { keepVectors } from './cached-vectors.ts';
import { compareHalves, PARAGRAPHS_A_TEXT } from './long-texts.ts';
import { hold, line } from './report.ts';
import { PlainBm25 } from './plain-bm25.ts';
import { englishParagraphs, readTasks, type RetrievalTask, wantedSets } from './retrieval-tasks.ts';

const LEGS = ['keyword', 'vectors', 'hybrid'] as const;
type Leg = (typeof LEGS)[number];

/** No language may lose by its meaning more than this. */
const SLACK = 0.001;

/** Where the vectors of a run are kept for the next. */
const KEPT = '.cache/bench-search';

/**
 * nDCG@10 of plain BM25, of the words, the vectors and both together on published questions and on our own code, embedded
 * and in Qdrant, the smallest set first; vectors that were made are kept, so that a run which was ended goes on where it
 * was. BENCH_SETS names some sets, BENCH_MODEL the folder of another model; BENCH_QDRANT=no leaves Qdrant out.
 */
export async function benchSearch(): Promise<void> {
  const tasks = readTasks();
  if (tasks === undefined)
    return line(
      'search',
      'needs BENCH_DATA: a folder with scifact/ (BEIR) and xquad/ (xquad.en.json, xquad.vi.json and others)',
    );
  tasks.push(codeTask(), nameTask());
  const wanted = wantedSets();
  mkdirSync(KEPT, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const onFault = (error: unknown): void => line('fault', String(error));
  const embedder = keepVectors(createModelEmbedder(300_000, onFault, ownModel()), join(KEPT, 'vectors'));
  const common = { kind: 'documents', embedder, onFault } as const;
  try {
    // Each set of documents stands alone, as a hub of its own would have it.
    const setOf = ({ name }: RetrievalTask): string => name.split(',')[0] ?? '';
    const smallestFirst = tasks.toSorted((a, b) => a.documents.length - b.documents.length);
    if (wanted('long texts')) await benchLongTexts(openSearch({ ...common, folder }));
    for (const set of new Set(smallestFirst.map(setOf))) {
      if (!wanted(set)) continue;
      const home = join(folder, set.replaceAll(/\W/g, '-'));
      mkdirSync(home);
      const qdrant = await openQdrant();
      const embedded = openSearch({ ...common, folder: home });
      const remote =
        qdrant &&
        openSearch({
          ...common,
          folder: home,
          qdrant: { url: qdrant.url, key: qdrant.key, timeoutMs: 60_000 },
        });
      for (const task of tasks.filter((one) => setOf(one) === set))
        await compare(set, task, embedded, remote);
      await embedded.close();
      await remote?.close();
      await qdrant?.close();
    }
  } finally {
    await embedder.close();
    rmSync(folder, { recursive: true });
  }
}

async function benchLongTexts(search: Search): Promise<void> {
  const paragraphs = englishParagraphs();
  for (const perText of paragraphs.length === 0 ? [] : PARAGRAPHS_A_TEXT)
    for (const leg of LEGS) {
      const { first, second } = await compareHalves(search, paragraphs, perText, leg);
      const figures = `first half ${first.toFixed(4)}, second ${second.toFixed(4)}`;
      const what = `${perText} paragraphs a text, ${leg}`;
      hold('search.halves', first - second, { what, figure: figures });
    }
  await search.close();
}

function ownModel() {
  const own = process.env['BENCH_MODEL'];
  if (own === undefined) return undefined;
  return chooseModel({ folder: own, tokens: 256, pooling: 'mean', ask: '', text: '', isEnglish: true });
}

async function openQdrant() {
  if (process.env['BENCH_QDRANT'] === 'no') return undefined;
  const program = tool('qdrant');
  return typeof program === 'string' && existsSync(program) ? startQdrant(program) : undefined;
}

/** What was tuned was tuned on the questions of even number; the others are told of. */
function reported({ queries }: RetrievalTask): RetrievalTask['queries'] {
  return queries.filter((_, i) => i % 2 === 1);
}

async function compare(
  workspace_id: string,
  task: RetrievalTask,
  embedded: Search,
  remote: Search | undefined,
): Promise<void> {
  for (const search of [embedded, remote]) if (search) await fill(search, workspace_id, task.documents);
  const queries = reported(task);
  const of = `${task.documents.length} documents, ${queries.length} of ${task.queries.length} questions`;
  line(task.name, `${of}: the odd ones; the even ones were used for tuning`);
  const plain = new PlainBm25(task.documents);
  const reference = await ndcg(queries, async (text) => plain.find(text, 10));
  line(`${task.name} plain BM25`, reference.toFixed(4));
  const scores: Partial<Record<Leg, number>> = {};
  for (const leg of LEGS) {
    const score = (scores[leg] = await ndcg(queries, ask(embedded, workspace_id, leg)));
    const other = remote && (await ndcg(queries, ask(remote, workspace_id, leg)));
    const what = `${task.name} ${leg}`;
    if (leg === 'hybrid') {
      const floor = Math.max(task.promised, reference - SLACK, (scores.keyword ?? 0) - SLACK);
      const figure = `${score.toFixed(4)}, wanted ${floor.toFixed(4)}`;
      hold('search.hybrid', score - floor, { what, figure });
    } else line(what, score.toFixed(4));
    if (other === undefined) continue;
    const apart = Math.abs(other - score);
    hold('search.qdrant', apart, { what: `${what}, Qdrant`, figure: other.toFixed(4) });
  }
}

async function fill(
  search: Search,
  workspace_id: string,
  documents: RetrievalTask['documents'],
): Promise<void> {
  const known = new Set((await search.known(workspace_id)).map(({ document_id }) => document_id));
  const missing = documents.filter(([id]) => !known.has(id)).map((one) => toDocument(workspace_id, one));
  for (let i = 0; i < missing.length; i += 200) await search.apply(missing.slice(i, i + 200), []);
  await search.settled();
}

function toDocument(
  workspace_id: string,
  [document_id, title, body]: RetrievalTask['documents'][number],
): IndexedDocument {
  const fixed = { version: '1', revision: 1, tags: [], mime_type: 'text/plain' };
  return { workspace_id, document_id, title, body, ...fixed };
}

function ask(search: Search, workspace_id: string, leg: Leg): (text: string) => Promise<string[]> {
  return async (text) => {
    const found = await search.find({ workspace_id, text, tags: [], limit: 50, leg }, 60_000);
    return [...new Set(found.passages.map(({ document_id }) => document_id))];
  };
}

/** How good the first ten documents are that each question finds, on the mean. */
async function ndcg(
  queries: RetrievalTask['queries'],
  find: (text: string) => Promise<string[]>,
): Promise<number> {
  let sum = 0;
  for (const { text, relevant } of queries) {
    const ranked = (await find(text)).slice(0, 10);
    const gain = ranked.reduce((all, id, i) => all + (relevant.has(id) ? 1 / Math.log2(i + 2) : 0), 0);
    const ideal = Array.from({ length: Math.min(10, relevant.size) }, (_, i) => 1 / Math.log2(i + 2));
    sum += gain / ideal.reduce((all, one) => all + one, 0);
  }
  return sum / queries.length;
}
