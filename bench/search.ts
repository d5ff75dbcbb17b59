import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createBuiltInEmbedder, type IndexedDocument, openSearch, type Search } from '@parley/search';

import { startQdrant } from '../tests/harness/qdrant.ts';
import { tool } from '../tests/tools/tools.ts';
import { keepVectors } from './kept-vectors.ts';
import { line } from './report.ts';
import { readTasks, type RetrievalTask } from './retrieval-tasks.ts';

const LEGS = ['keyword', 'vectors', 'hybrid'] as const;
type Leg = (typeof LEGS)[number];

/** Where the vectors of a run are kept for the next. */
const KEPT = '.cache/bench-search';

/** nDCG@10 of the words, the vectors and both together on published questions, embedded and in Qdrant. */
export async function benchSearch(): Promise<void> {
  const tasks = readTasks();
  if (tasks === undefined)
    return line(
      'search',
      'needs BENCH_DATA: a folder with scifact/ (BEIR) and xquad/ (xquad.en.json, xquad.vi.json)',
    );
  mkdirSync(KEPT, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const onFault = (error: unknown): void => line('fault', String(error));
  const embedder = keepVectors(createBuiltInEmbedder(300_000, onFault), join(KEPT, 'vectors'));
  const common = { kind: 'documents', embedder, onFault } as const;
  try {
    // Each set of documents stands alone, as a hub of its own would have it.
    const setOf = ({ name }: RetrievalTask): string => name.split(',')[0] ?? '';
    for (const set of new Set(tasks.map(setOf))) {
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

async function openQdrant() {
  const program = tool('qdrant');
  return typeof program === 'string' && existsSync(program) ? startQdrant(program) : undefined;
}

async function compare(
  workspace_id: string,
  task: RetrievalTask,
  embedded: Search,
  remote: Search | undefined,
): Promise<void> {
  for (const search of [embedded, remote]) if (search) await fill(search, workspace_id, task.documents);
  for (const leg of LEGS) {
    const score = await ndcg(embedded, workspace_id, task, leg);
    const other = remote && (await ndcg(remote, workspace_id, task, leg));
    const beside =
      other === undefined
        ? ''
        : `  Qdrant ${other.toFixed(4)}  (difference ${(other - score).toFixed(4)}, promised 0.005)`;
    const promise = leg === 'hybrid' ? `  (promised ${task.promised})` : '';
    line(`${task.name} ${leg}`, `${score.toFixed(4)}${promise}${beside}`);
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

async function ndcg(search: Search, workspace_id: string, task: RetrievalTask, leg: Leg): Promise<number> {
  let sum = 0;
  for (const { text, relevant } of task.queries) {
    const found = await search.find({ workspace_id, text, tags: [], limit: 50, leg }, 60_000);
    const ranked = [...new Set(found.passages.map(({ document_id }) => document_id))].slice(0, 10);
    const gain = ranked.reduce((all, id, i) => all + (relevant.has(id) ? 1 / Math.log2(i + 2) : 0), 0);
    const ideal = Array.from({ length: Math.min(10, relevant.size) }, (_, i) => 1 / Math.log2(i + 2));
    sum += gain / ideal.reduce((all, one) => all + one, 0);
  }
  return sum / task.queries.length;
}
