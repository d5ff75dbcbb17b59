import { type Caller, type OutputOf, ParleyError, type ParsedInputOf } from '@parley/protocol';

import { findMessages, type MessageHit } from '../messages/message-search.ts';
import { operation } from '../operation.ts';
import type { KnowledgePorts, MessagePorts, RecordPorts } from '../ports.ts';
import { JOURNAL_PREFIX, outOfScope } from '../threads/access.ts';
import { findThread } from '../threads/find-thread.ts';
import { within } from '../within.ts';
import { answerFrom, isAnswered, NO_ANSWER, type Source } from './answer.ts';
import { isGone } from './document-records.ts';
import { type FoundPassage, isBusy, type Library } from './library.ts';
import { requireTreeRight } from './rights.ts';
import { someDocuments } from './view.ts';

type QueryOutput = OutputOf<'query_knowledge'>;
type Asked = ParsedInputOf<'query_knowledge'>;

/** More than are asked for: some may have gone since they were indexed. */
const SPARE = 20;
/** What is kept of the time to put the answer together. */
const RESERVE_MS = 100;
/** These say what a search of that kind never has; the others were left out for lack of time. */
const STANDING: ReadonlySet<string> = new Set(['older', 'older_matches']);

export const queryKnowledge = operation('query_knowledge', {
  authority: 'look',
  async run(deps: RecordPorts & MessagePorts & KnowledgePorts, caller, input, { signal }) {
    requireTreeRight(caller, 'read');
    const { filters, top_k, routing, scope } = input;
    if ((filters.tenant_id ?? caller.workspace_id) !== caller.workspace_id) throw outOfScope();
    const started = deps.clock.monotonic();
    const spent = (): number => deps.clock.monotonic() - started;
    const left = (): number => Math.max(0, routing.max_latency_ms - RESERVE_MS - spent());
    if (routing.noop_qdrant) return noSearch(deps, spent());
    const looking = Promise.all([
      scope === 'threads' ? NO_DOCUMENTS : lookInDocuments(deps, caller, input, left),
      scope === 'documents' ? NO_MESSAGES : lookInThreads(deps, caller, input, left),
    ]);
    const looked = await within(looking, left());
    if (looked === undefined)
      throw tooLate(`the search took longer than ${routing.max_latency_ms} ms; try again`);
    const [documents, messages] = looked;
    const missing = [...new Set([...documents.missing, ...messages.missing])];
    const best = inOneOrder(documents.found, messages.found).slice(0, top_k);
    const sources = best.map(({ source }, i) => ({ ...source, n: i + 1 }));
    const isNear = isAnswered(best);
    const answer = await answerFrom({ deps, asked: input, sources, isNear, left, signal }, missing);
    const lacks = missing.filter((word) => !STANDING.has(word));
    if (lacks.length > 0 && !routing.allow_partial)
      throw tooLate(
        `within ${routing.max_latency_ms} ms there was no answer with ${lacks.join(', ')}; try again`,
        { missing: lacks, hint: 'leave allow_partial out to get what is there' },
      );
    return {
      ...answer,
      context: best.flatMap(({ document }, i) => (document === undefined ? [] : { n: i + 1, ...document })),
      messages: best.flatMap(({ message }, i) => (message === undefined ? [] : { n: i + 1, ...message })),
      partial: lacks.length > 0,
      missing,
      usage: {
        latency_ms: Math.round(spent()),
        qdrant_hits: best.length,
        keyword_hits: documents.keyword_hits,
        vector_hits: documents.vector_hits,
        backend: deps.library.backend,
      },
    };
  },
});

type Numbered<T> = Omit<T, 'n'>;

/** A passage of a document or a message, and what an answer may take from it. */
interface Candidate {
  fit: number;
  source: Numbered<Source>;
  document?: Numbered<QueryOutput['context'][number]>;
  message?: Numbered<QueryOutput['messages'][number]>;
}

interface Looked {
  found: Candidate[];
  missing: QueryOutput['missing'];
  keyword_hits: number;
  vector_hits: number;
}

const NO_DOCUMENTS: Looked = { found: [], missing: [], keyword_hits: 0, vector_hits: 0 };
const NO_MESSAGES = NO_DOCUMENTS;

function tooLate(message: string, details: object = {}): ParleyError {
  return new ParleyError('UNAVAILABLE', message, { retry_after_ms: 1_000, ...details });
}

/** Two rankings as one: each keeps its order, and of their firsts the one goes before that comes nearer to the question. */
function inOneOrder(a: readonly Candidate[], b: readonly Candidate[]): Candidate[] {
  const [one, other] = [[...a], [...b]];
  const all: Candidate[] = [];
  while (one.length > 0 || other.length > 0) {
    const isFirst = (one[0]?.fit ?? -1) >= (other[0]?.fit ?? -1);
    all.push(...(isFirst ? one : other).splice(0, 1));
  }
  return all;
}

async function lookInDocuments(
  deps: RecordPorts & KnowledgePorts,
  caller: Caller,
  input: Asked,
  left: () => number,
): Promise<Looked> {
  const { workspace_id } = caller;
  const missing: QueryOutput['missing'] = [];
  if (!(await deps.indexFollower.caughtUp(caller.workspace_id, left() / 4))) missing.push('changes');
  const { query, filters, top_k } = input;
  const asked = { workspace_id, text: query, tags: filters.tags ?? [], limit: top_k + SPARE };
  const { passages, lacks, keyword_hits, vector_hits } = await search(deps, asked, left());
  const found = (await stillThere(deps, workspace_id, passages)).slice(0, top_k);
  return { found, missing: [...missing, ...lacks], keyword_hits, vector_hits };
}

/** An index that could not be asked may have lost what it had: whoever keeps it looks again. */
async function search(
  deps: RecordPorts & KnowledgePorts,
  asked: Parameters<Library['find']>[0],
  withinMs: number,
) {
  try {
    return await deps.library.find(asked, withinMs);
  } catch (error) {
    if (!isBusy(error)) deps.indexFollower.again();
    throw error;
  }
}

/** What callers use to try themselves without a search; a hub that is in earnest refuses it. */
function noSearch({ noopAllowed, library }: KnowledgePorts, spent: number): QueryOutput {
  if (!noopAllowed)
    throw new ParleyError('FORBIDDEN', 'noop_qdrant is for tests: this hub has knowledge.allow_noop off');
  const hits = { qdrant_hits: 0, keyword_hits: 0, vector_hits: 0 };
  const usage = { latency_ms: Math.round(spent), ...hits, backend: library.backend };
  return { ...NO_ANSWER, context: [], messages: [], partial: false, missing: [], usage };
}

/** Those whose documents are there now, whatever the index knows. */
async function stillThere(
  deps: RecordPorts & KnowledgePorts,
  workspace_id: string,
  passages: readonly FoundPassage[],
): Promise<Candidate[]> {
  const ids = [...new Set(passages.map(({ document_id }) => document_id))];
  const documents = await someDocuments(deps, workspace_id, ids);
  const now = deps.clock.now();
  const there = new Map(
    documents
      .filter((one) => one.purged_at === undefined && !isGone(one, now))
      .map((one) => [one.document_id, one.metadata]),
  );
  const gone = ids.filter((id) => !there.has(id));
  if (gone.length > 0) deps.indexFollower.look(workspace_id, gone);
  return passages
    .filter(({ document_id }) => there.has(document_id))
    .map(({ document_id, revision, title, passage, start, end, headings, text, score, fit }) => {
      const heading_path = [title, ...headings];
      const document = {
        document_id,
        revision,
        chunk_id: `${document_id}#${passage}`,
        start,
        end,
        heading_path,
        snippet: text,
        score: rounded(score),
        metadata: there.get(document_id) ?? {},
      };
      return { fit, source: { title: heading_path.join(' > '), text, start }, document };
    });
}

/** Messages have no tags: who asks for some asks the documents alone. */
async function lookInThreads(
  deps: RecordPorts & MessagePorts & KnowledgePorts,
  caller: Caller,
  { query, filters, top_k: limit }: Asked,
  left: () => number,
): Promise<Looked> {
  if ((filters.tags ?? []).length > 0) return NO_MESSAGES;
  const { hits, missing } = await findMessages(deps, caller, { query, limit, mode: 'hybrid' }, left());
  const said = hits.filter(({ message }) => !message.thread_id.startsWith(JOURNAL_PREFIX));
  const threads = new Set(said.map(({ message }) => message.thread_id));
  const titles = new Map(
    await Promise.all(
      [...threads].map(async (id) => [id, (await findThread(deps, caller, id)).title] as const),
    ),
  );
  const found = said.map((hit) => toCandidate(hit, titles.get(hit.message.thread_id) ?? ''));
  return { ...NO_MESSAGES, found, missing: missing.filter((word) => word !== 'words') };
}

function toCandidate({ message, part, fit }: MessageHit, thread_title: string): Candidate {
  const { thread_id, message_id, seq, sender_agent_id, created_at } = message;
  const where = { thread_id, thread_title, message_id, seq, sender_agent_id, created_at };
  return {
    fit,
    source: { title: `${sender_agent_id} in ${thread_title}`, ...part },
    message: { ...where, snippet: part.text, score: rounded(fit) },
  };
}

function rounded(score: number): number {
  return Math.round(score * 10_000) / 10_000;
}
