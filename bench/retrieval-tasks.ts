import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import type { Paragraph } from './long-texts.ts';

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
  const found = LANGUAGES.filter((one) => existsSync(join(folder, 'xquad', `xquad.${one}.json`)));
  return [
    { ...scifact(folder), promised: 0.73 },
    ...found.map((one) => ({ ...xquad(folder, one), promised: PROMISED[one] ?? 0 })),
    ...found.filter((one) => one === 'vi').map(() => unmarked(xquad(folder, 'vi'))),
  ];
}

/** The paragraphs of XQuAD in English; empty where BENCH_DATA has none. */
export function englishParagraphs(): Paragraph[] {
  const folder = process.env['BENCH_DATA'] ?? '';
  if (!existsSync(join(folder, 'xquad', 'xquad.en.json'))) return [];
  return paragraphsIn(folder, 'en').map(({ context, qas }) => ({
    text: context,
    questions: qas.map(({ question }) => question),
  }));
}

/** Whether a set is to be run: all of them, or those that BENCH_SETS names. */
export function wantedSets(): (set: string) => boolean {
  const wanted = (process.env['BENCH_SETS'] ?? '').split(',').filter((one) => one !== '');
  return (set) => wanted.length === 0 || wanted.includes(set);
}

/** The languages of XQuAD that are looked for. */
const LANGUAGES = ['en', 'vi', 'de', 'th', 'zh', 'ar', 'hi', 'ru', 'es', 'ro', 'tr', 'el'];
const PROMISED: Record<string, number> = { en: 0.97, vi: 0.96 };

/** The same questions as one types them without marks; they are asked of the same documents. */
function unmarked(task: Omit<RetrievalTask, 'promised'>): RetrievalTask {
  const queries = task.queries.map(({ text, relevant }) => ({ text: withoutMarks(text), relevant }));
  return { ...task, name: `${task.name}, no marks`, queries, promised: 0.9 };
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

function paragraphsIn(folder: string, language: string): Xquad['data'][number]['paragraphs'] {
  const { data } = JSON.parse(readFileSync(join(folder, 'xquad', `xquad.${language}.json`), 'utf8')) as Xquad;
  return data.flatMap((article) => article.paragraphs);
}

function xquad(folder: string, language: string): Omit<RetrievalTask, 'promised'> {
  const paragraphs = paragraphsIn(folder, language);
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
