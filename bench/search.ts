import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { type IndexedDocument, openSearch, type Search } from '@parley/search';

import { line } from './report.ts';

interface Task {
  name: string;
  documents: [id: string, title: string, text: string][];
  queries: { text: string; relevant: Set<string> }[];
  promised: number;
}

const LEGS = ['keyword', 'vectors', 'hybrid'] as const;
type Leg = (typeof LEGS)[number];

/** Where the vectors of a run are kept for the next: making them takes minutes. */
const KEPT = '.cache/bench-search';

/** nDCG@10 of the words, the vectors and both together on published questions, and how long a question takes. */
export async function benchSearch(): Promise<void> {
  const folder = process.env['BENCH_DATA'] ?? '';
  if (!existsSync(join(folder, 'scifact'))) {
    line(
      'search',
      'needs BENCH_DATA: a folder with scifact/ (BEIR) and xquad/ (xquad.en.json, xquad.vi.json)',
    );
    return;
  }
  mkdirSync(KEPT, { recursive: true });
  const search = openSearch({ folder: KEPT, onFault: (error) => line('fault', String(error)) });
  try {
    const [en, vi] = [xquad(folder, 'en'), xquad(folder, 'vi')];
    const bare = vi.queries.map(({ text, relevant }) => ({ text: withoutMarks(text), relevant }));
    const tasks: Task[] = [
      { ...scifact(folder), promised: 0.72 },
      { ...en, promised: 0.97 },
      { ...vi, promised: 0.955 },
      { ...vi, name: 'xquad-vi, no marks', queries: bare, promised: 0.9 },
    ];
    for (const task of tasks) {
      const workspace_id = task.name.split(',')[0] ?? '';
      await fill(search, workspace_id, task.documents);
      for (const leg of LEGS) {
        const score = await ndcg(search, workspace_id, task, leg);
        const promise = leg === 'hybrid' ? `  (promised ${task.promised})` : '';
        line(`${task.name} ${leg}`, `${score.toFixed(4)}${promise}`);
      }
    }
    await latency(search, tasks);
  } finally {
    await search.close();
  }
}

async function fill(search: Search, workspace_id: string, documents: Task['documents']): Promise<void> {
  const known = new Set((await search.known(workspace_id)).map(({ document_id }) => document_id));
  const missing = documents.filter(([id]) => !known.has(id)).map((one) => toDocument(workspace_id, one));
  for (let i = 0; i < missing.length; i += 200) await search.apply(missing.slice(i, i + 200), []);
  await search.settled();
}

function toDocument(
  workspace_id: string,
  [document_id, title, body]: Task['documents'][number],
): IndexedDocument {
  const fixed = { version: '1', revision: 1, tags: [], mime_type: 'text/plain' };
  return { workspace_id, document_id, title, body, ...fixed };
}

async function ndcg(search: Search, workspace_id: string, task: Task, leg: Leg): Promise<number> {
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

const CHUNKS = 10_000;

/** The time a question takes over 10,000 passages, beside that of its two parts. */
async function latency(search: Search, tasks: Task[]): Promise<void> {
  const workspace_id = 'many';
  const texts = tasks.slice(0, 2).flatMap(({ documents }) => documents.map(([, , text]) => text));
  const sentences = texts.flatMap((text) => text.split(/(?<=[.!?]) /)).slice(0, CHUNKS);
  const many = sentences.map((text, i): Task['documents'][number] => [`s${i}`, '', text]);
  await fill(search, workspace_id, many);
  const questions = tasks.slice(0, 2).flatMap(({ queries }) => queries.slice(0, 150));
  for (const leg of LEGS) {
    const times: number[] = [];
    for (const { text } of questions) {
      const start = performance.now();
      await search.find({ workspace_id, text, tags: [], limit: 5, leg }, 60_000);
      times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    const at = (part: number): string => (times[Math.floor(times.length * part)] ?? 0).toFixed(1);
    const promise = leg === 'hybrid' ? '  (promised p95 50 ms)' : '';
    line(`${CHUNKS} passages, ${leg}`, `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms${promise}`);
  }
}

function scifact(folder: string): Omit<Task, 'promised'> {
  const read = (name: string): string => readFileSync(join(folder, 'scifact', name), 'utf8');
  const rows = <T>(text: string): T[] =>
    text
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row) as T);
  const corpus = gunzipSync(readFileSync(join(folder, 'scifact', 'corpus.jsonl.gz'))).toString();
  const relevant = new Map<string, Set<string>>();
  for (const row of read('qrels.test.tsv').trim().split('\n').slice(1)) {
    const [query = '', document = '', score] = row.split('\t');
    if (Number(score) > 0) relevant.set(query, (relevant.get(query) ?? new Set()).add(document));
  }
  return {
    name: 'scifact',
    documents: rows<Row & { title: string }>(corpus).map(({ _id: id, title, text }) => [id, title, text]),
    queries: rows<Row>(read('queries.test.jsonl')).flatMap(({ _id: id, text }) => {
      const found = relevant.get(id);
      return found === undefined ? [] : [{ text, relevant: found }];
    }),
  };
}

interface Row {
  _id: string;
  text: string;
}

interface Xquad {
  data: { paragraphs: { context: string; qas: { question: string }[] }[] }[];
}

function xquad(folder: string, language: string): Omit<Task, 'promised'> {
  const { data } = JSON.parse(readFileSync(join(folder, 'xquad', `xquad.${language}.json`), 'utf8')) as Xquad;
  const paragraphs = data.flatMap((article) => article.paragraphs);
  return {
    name: `xquad-${language}`,
    documents: paragraphs.map(({ context }, i) => [`p${i}`, '', context]),
    queries: paragraphs.flatMap(({ qas }, i) =>
      qas.map(({ question }) => ({ text: question, relevant: new Set([`p${i}`]) })),
    ),
  };
}

function withoutMarks(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll('đ', 'd').replaceAll('Đ', 'D');
}
