import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** Published questions and the documents that answer them. */
export interface RetrievalTask {
  name: string;
  documents: [id: string, title: string, text: string][];
  queries: { text: string; relevant: Set<string> }[];
  promised: number;
}

/** Reads the tasks from the folder that BENCH_DATA names; undefined where it names none. */
export function readTasks(): RetrievalTask[] | undefined {
  const folder = process.env['BENCH_DATA'] ?? '';
  if (!existsSync(join(folder, 'scifact'))) return undefined;
  const [en, vi] = [xquad(folder, 'en'), xquad(folder, 'vi')];
  const bare = vi.queries.map(({ text, relevant }) => ({ text: withoutMarks(text), relevant }));
  return [
    { ...scifact(folder), promised: 0.72 },
    { ...en, promised: 0.97 },
    { ...vi, promised: 0.955 },
    { ...vi, name: 'xquad-vi, no marks', queries: bare, promised: 0.9 },
  ];
}

function scifact(folder: string): Omit<RetrievalTask, 'promised'> {
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

function xquad(folder: string, language: string): Omit<RetrievalTask, 'promised'> {
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
