import { inTime, type OutputOf, type ParsedInputOf } from '@parley/protocol';

import type { Ports } from '../ports.ts';
import { within } from '../within.ts';
import { type Said, saidBy, saysNothing, shown } from './answer-text.ts';

type Output = OutputOf<'query_knowledge'>;
type Asked = ParsedInputOf<'query_knowledge'>;
type Citation = Output['citations'][number];
type Place = Pick<Citation, 'n' | 'start' | 'end'>;

/** A text that an answer may rest on. */
export interface Source {
  n: number;
  title: string;
  text: string;
  /** Where it begins in the document or message that it was taken from. */
  start: number;
}

export type KnowledgeAnswer = Pick<Output, 'response' | 'answered' | 'answer_mode' | 'citations'>;

export const NO_ANSWER: KnowledgeAnswer = {
  response: '',
  answered: false,
  answer_mode: 'none',
  citations: [],
};

const NOT_THERE = {
  documents: 'Not in the documents.',
  threads: 'Not in the threads.',
  all: 'Not in the documents or threads.',
} as const;

/** From so many of the best the sentences of an answer are taken. */
const ANSWERING = 3;
const MOST_LETTERS = 300;
/** What it takes to find the places of an answer's citations, where the time is up. */
const PLACING_MS = 50;

/** What comes no nearer than this does not answer a question. */
const NEAR = 0.5;

/** Whether something that was found comes near enough to the question to be an answer. */
export function isAnswered(found: readonly { fit: number }[]): boolean {
  return found.some(({ fit }) => fit >= NEAR);
}

/** What an answer is put together with. */
interface SampleHub {
  deps: Pick<Ports, 'library' | 'answerer'>;
  asked: Asked;
  sources: readonly Source[];
  /** Whether what was found is near enough to be an answer. */
  isNear: boolean;
  left: () => number;
  signal: AbortSignal;
}

/** A model's answer where one is set up, has time and keeps to the sources; else their own sentences. */
export async function answerFrom(sample: SampleHub, missing: Output['missing']): Promise<KnowledgeAnswer> {
  const { deps, asked, sources, isNear } = sample;
  if (sources.length === 0) return NO_ANSWER;
  const none = { ...NO_ANSWER, response: NOT_THERE[asked.scope] };
  if (deps.answerer !== undefined) {
    const written = await ask(sample);
    if (written !== undefined && saysNothing(written)) return { ...none, answer_mode: 'model' };
    const said = written === undefined ? [] : saidBy(written, sources.length);
    if (isGrounded(said)) return { answered: true, answer_mode: 'model', ...(await placed(sample, said)) };
    missing.push('answer');
  }
  return isNear ? extract(sample) : none;
}

async function ask({ deps, asked, sources, left, signal }: SampleHub): Promise<string | undefined> {
  const passages = sources.map(({ n, title, text }) => ({ n, title, text }));
  const { answerer } = deps;
  if (answerer === undefined) return undefined;
  const answer = inTime(Math.ceil(left()), signal, (limit) =>
    answerer(asked.query, passages, asked.context_hints, limit),
  );
  return within(answer, left());
}

/** Something is said, and at least one of the sources is cited. */
function isGrounded(said: readonly Said[]): boolean {
  return said.some(
    ({ text, cites }) => cites.length > 0 && /[\p{L}\p{N}]/u.test(text.replaceAll(/\[\d+\]/g, '')),
  );
}

/** The response, and for each of its marks the sentence of the source that says most nearly the same. */
async function placed(
  { deps, sources, left }: SampleHub,
  said: readonly Said[],
): Promise<Pick<KnowledgeAnswer, 'response' | 'citations'>> {
  const looked = said.map(async ({ text, cites }) =>
    Promise.all(
      cites.map(async (n): Promise<Place> => {
        const source = sources[n - 1] ?? { text: '', start: 0 };
        const claim = text.replaceAll(/\[\d+\]/g, '');
        const [best] = await deps.library.sentences(claim, [source.text], 1);
        return placeIn(n, source, best);
      }),
    ),
  );
  const whole = said.map(({ cites }) =>
    cites.map((n) => placeIn(n, sources[n - 1] ?? { text: '', start: 0 })),
  );
  const places = (await within(Promise.all(looked), Math.max(PLACING_MS, left()))) ?? whole;
  return joined(said.map((one, i) => ({ text: shown(one), places: places[i] ?? [] })));
}

function placeIn(
  n: number,
  { text, start }: Pick<Source, 'text' | 'start'>,
  sentence: { start: number; end: number } = { start: 0, end: text.length },
): Place {
  return { n, start: start + sentence.start, end: start + sentence.end };
}

/** Puts pieces together and tells where the marks of each have come to stand. */
function joined(
  pieces: readonly { text: string; places: readonly Place[] }[],
): Pick<KnowledgeAnswer, 'response' | 'citations'> {
  const citations: Citation[] = [];
  let response = '';
  for (const { text, places } of pieces) {
    const marks = text.matchAll(/\[\d{1,3}\]/g);
    for (const place of places)
      citations.push({ at: response.length + (marks.next().value?.index ?? 0), ...place });
    response += text;
  }
  return { response: response.trimEnd(), citations };
}

/** The sentences of the best sources that have the words of the question. */
async function extract({
  deps,
  asked: { query, context_hints },
  sources,
}: SampleHub): Promise<KnowledgeAnswer> {
  const best = sources.slice(0, ANSWERING);
  const sentences = await deps.library.sentences(
    query,
    best.map(({ text }) => text),
    ANSWERING,
  );
  const reported = sentences.flatMap(({ of, start, end }) => {
    const source = best[of];
    const text = source?.text.slice(start, end).trim() ?? '';
    return source === undefined || text === '' ? [] : [{ source, text, at: { start, end } }];
  });
  // What is near in meaning may share no word with the question: then the best that has a text speaks for itself.
  const first = sources.find(({ text }) => text.trim() !== '');
  if (reported.length === 0 && first === undefined) return NO_ANSWER;
  if (reported.length === 0 && first !== undefined)
    reported.push({
      source: first,
      text: first.text.slice(0, MOST_LETTERS).trim(),
      at: { start: 0, end: Math.min(first.text.length, MOST_LETTERS) },
    });
  const isPlain = context_hints.preferred_format === 'plain';
  const pieces = reported.map(({ source, text, at }, i) => {
    const line = isPlain ? text : `- ${text.replaceAll(/\s+/g, ' ')}`;
    const end = i === reported.length - 1 ? '' : isPlain ? ' ' : '\n';
    return { line, mark: `[${source.n}]`, end, place: placeIn(source.n, source, at) };
  });
  const citations: Citation[] = [];
  let response = '';
  for (const { line, mark, end, place } of pieces) {
    citations.push({ at: response.length + line.length + 1, ...place });
    response += `${line} ${mark}${end}`;
  }
  return { response, answered: true, answer_mode: 'extractive', citations };
}
