import { type OutputOf, ParleyError, type ParsedInputOf } from '@parley/protocol';

import { type CallContext, type Deps, operation } from '../operation.ts';
import { outOfScope } from '../threads/access.ts';
import { isGone } from './kept.ts';
import { type FoundPassage, isBusy, type Library } from './library.ts';
import { requireTreeRight } from './rights.ts';
import { someDocuments } from './view.ts';

type Answer = OutputOf<'query_knowledge'>;
type Asked = ParsedInputOf<'query_knowledge'>;
type Context = Answer['context'];

/** More than are asked for: some may have gone since they were indexed. */
const SPARE = 20;
const ANSWERING = 3;
/** What is kept of the time to put the answer together. */
const RESERVE_MS = 100;

export const queryKnowledge = operation('query_knowledge', {
  authority: 'look',
  async run(deps, caller, input, context) {
    requireTreeRight(caller, 'read');
    const { workspace_id } = caller;
    const { query, filters, top_k, routing } = input;
    if ((filters.tenant_id ?? workspace_id) !== workspace_id) throw outOfScope();
    const started = deps.clock.monotonic();
    const spent = (): number => deps.clock.monotonic() - started;
    const left = (): number => Math.max(0, routing.max_latency_ms - RESERVE_MS - spent());
    if (routing.noop_qdrant) return noSearch(deps, spent());
    const missing: Answer['missing'] = [];
    if (!(await deps.indexFollower.caughtUp(left() / 4))) missing.push('changes');
    const asked = { workspace_id, text: query, tags: filters.tags ?? [], limit: top_k + SPARE };
    const found = await within(search(deps, asked, left()), left());
    if (found === undefined)
      throw new ParleyError(
        'UNAVAILABLE',
        `the search took longer than ${routing.max_latency_ms} ms; try again`,
        {
          retry_after_ms: 1_000,
        },
      );
    missing.push(...found.lacks);
    const passages = await stillThere(deps, workspace_id, found.passages, top_k);
    const answer = await answerFrom(deps, input, passages, left, context, missing);
    if (missing.length > 0 && !routing.allow_partial)
      throw new ParleyError(
        'UNAVAILABLE',
        `within ${routing.max_latency_ms} ms there was no answer with ${missing.join(', ')}; try again`,
        { retry_after_ms: 1_000, missing, hint: 'leave allow_partial out to get what is there' },
      );
    return {
      ...answer,
      context: passages,
      partial: missing.length > 0,
      missing,
      usage: {
        latency_ms: Math.round(spent()),
        qdrant_hits: passages.length,
        keyword_hits: found.keyword_hits,
        vector_hits: found.vector_hits,
        backend: deps.library.backend,
      },
    };
  },
});

/** An index that could not be asked may have lost what it had: whoever keeps it looks again. */
async function search(deps: Deps, asked: Parameters<Library['find']>[0], withinMs: number) {
  try {
    return await deps.library.find(asked, withinMs);
  } catch (error) {
    if (!isBusy(error)) deps.indexFollower.again();
    throw error;
  }
}

/** What callers use to try themselves without a search; a hub that is in earnest refuses it. */
function noSearch({ noopAllowed, library }: Deps, spent: number): Answer {
  if (!noopAllowed)
    throw new ParleyError('FORBIDDEN', 'noop_qdrant is for tests: this hub has knowledge.allow_noop off');
  const hits = { qdrant_hits: 0, keyword_hits: 0, vector_hits: 0 };
  const usage = { latency_ms: Math.round(spent), ...hits, backend: library.backend };
  return { response: '', context: [], answer_mode: 'none', partial: false, missing: [], usage };
}

/** Those whose documents are there now, whatever the index knows. */
async function stillThere(
  deps: Deps,
  workspace_id: string,
  passages: readonly FoundPassage[],
  count: number,
): Promise<Context> {
  const ids = [...new Set(passages.map(({ document_id }) => document_id))];
  const documents = await someDocuments(deps, workspace_id, ids);
  const now = deps.clock.now();
  const there = new Map(
    documents
      .filter((one) => one.purged_at === undefined && !isGone(one, now))
      .map((one) => [one.document_id, one.metadata]),
  );
  return passages
    .filter(({ document_id }) => there.has(document_id))
    .slice(0, count)
    .map(({ document_id, revision, title, passage, start, end, headings, text, score }, i) => ({
      n: i + 1,
      document_id,
      revision,
      chunk_id: `${document_id}#${passage}`,
      start,
      end,
      heading_path: [title, ...headings],
      snippet: text,
      score: Math.round(score * 10_000) / 10_000,
      metadata: there.get(document_id) ?? {},
    }));
}

type Answered = Pick<Answer, 'response' | 'answer_mode'>;

/** A model's answer where one is set up, has time and keeps to the passages; else the sentences themselves. */
async function answerFrom(
  deps: Deps,
  { query, context_hints }: Asked,
  context: Context,
  left: () => number,
  { signal }: CallContext,
  missing: Answer['missing'],
): Promise<Answered> {
  if (context.length === 0) return { response: '', answer_mode: 'none' };
  if (deps.answerer !== undefined) {
    const passages = context.map(({ n, heading_path, snippet }) => ({
      n,
      title: heading_path.join(' > '),
      text: snippet,
    }));
    const limit = AbortSignal.timeout(Math.ceil(left()));
    const written = await within(
      deps.answerer(query, passages, context_hints, AbortSignal.any([signal, limit])),
      left(),
    );
    const response = written === undefined ? undefined : grounded(written, context.length);
    if (response !== undefined) return { response, answer_mode: 'model' };
    missing.push('answer');
  }
  return {
    response: await extract(deps, query, context, context_hints.preferred_format),
    answer_mode: 'extractive',
  };
}

/** The answer without citations of what it was not given; undefined when it cites nothing. */
function grounded(written: string, count: number): string | undefined {
  const cited = written.replaceAll(/\s?\[(\d{1,3})\]/g, (mark, n: string) =>
    Number(n) >= 1 && Number(n) <= count ? mark : '',
  );
  return /\[\d{1,3}\]/.test(cited) ? cited.trim() : undefined;
}

async function extract(deps: Deps, query: string, context: Context, format?: string): Promise<string> {
  const texts = context.slice(0, ANSWERING).map(({ snippet }) => snippet);
  const sentences = await deps.library.sentences(query, texts, ANSWERING);
  const told = sentences.map(({ of, start, end }) => `${texts[of]?.slice(start, end) ?? ''} [${of + 1}]`);
  // What is near in meaning may share no word with the question: then the best passage speaks for itself.
  if (told.length === 0) return `${texts[0]?.slice(0, 300).trim() ?? ''} [1]`;
  return format === 'plain'
    ? told.join(' ')
    : told.map((one) => `- ${one.replaceAll(/\s+/g, ' ')}`).join('\n');
}

async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
