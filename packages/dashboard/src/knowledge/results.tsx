import type { OutputOf } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { call, wordsOf } from '../data/api.ts';
import { Icon } from '../parts/icon.tsx';
import { Empty, Section } from '../parts/page.tsx';
import { Snippet } from '../parts/snippet.tsx';

type Found = OutputOf<'query_knowledge'>;

const PAUSE_MS = 250;

/** Asks the documents once the typing pauses; undefined while nothing has come. */
export function useKnowledge(
  query: string,
  count: number,
): { found?: Found; failed?: string; busy: boolean } {
  const [state, set] = useState<{ found?: Found; failed?: string; busy: boolean }>({ busy: false });
  useEffect(() => {
    let gone = false;
    if (query.trim() === '') return set({ busy: false });
    set((before) => ({ ...before, busy: true }));
    const timer = setTimeout(() => {
      call('query_knowledge', { query, top_k: count }).then(
        (found) => (gone ? undefined : set({ found, busy: false })),
        (error: unknown) => (gone ? undefined : set({ failed: wordsOf(error), busy: false })),
      );
    }, PAUSE_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [query]);
  return state;
}

/** What the documents say to a question: an answer with its sources, and the passages themselves. */
export function Results({ query }: { query: string }) {
  const { found, failed, busy } = useKnowledge(query, 10);
  if (failed !== undefined) return <p class="doc ask-failed">{failed}</p>;
  if (found === undefined)
    return <div class="doc">{busy ? <div class="skeleton" aria-busy="true" /> : null}</div>;
  return (
    <div class="doc" aria-busy={busy}>
      <h1 class="results-title">“{query}”</h1>
      {found.context.length === 0 ? (
        <Empty title="No document speaks of this.">
          <p>Try other words, or fewer.</p>
        </Empty>
      ) : null}
      {found.response === '' ? null : (
        <Section title={found.answer_mode === 'model' ? 'Answer, written by a model' : 'In short'}>
          <div class="answer">
            <Cited found={found} />
          </div>
        </Section>
      )}
      {found.context.length === 0 ? null : (
        <Section title={found.answered ? 'Passages' : 'Nearest passages'} count={found.context.length}>
          <Passages found={found.context} query={query} />
        </Section>
      )}
      {found.partial ? (
        <p class="meta">Something was left out for lack of time: {found.missing.join(', ')}.</p>
      ) : null}
    </div>
  );
}

/** Where a passage, or a sentence of it, stands, as an address. */
function addressOf(
  { document_id, revision, ...passage }: Found['context'][number],
  { start, end }: { start: number; end: number } = passage,
): string {
  return `/know/${document_id}?at=${start}-${end}&rev=${revision}`;
}

/** Passages, each of which leads to its place. */
export function Passages({ found, query }: { found: Found['context']; query: string }) {
  return (
    <div class="list">
      {found.map((one) => (
        <a key={one.chunk_id} class="row row-main" href={addressOf(one)} data-row>
          <Icon name="page" />
          <span class="row-text">
            <span class="row-title">
              <span>{one.heading_path[0]}</span>
              <span class="meta">{one.heading_path.slice(1).join(' › ')}</span>
            </span>
            <span class="row-line row-lines">
              <Snippet text={plain(one.snippet)} query={query} />
            </span>
          </span>
        </a>
      ))}
    </div>
  );
}

/** A piece of a text without the marks of Markdown, which say nothing out of their place. */
function plain(text: string): string {
  return text
    .replaceAll(/\[\[([^\]|]*)(?:\|([^\]]*))?\]\]/g, (_, name: string, shown?: string) => shown ?? name)
    .replaceAll(/[#*`>|]+/g, ' ');
}

/** A piece of an answer; a mark knows what it cites. */
interface Piece {
  text: string;
  cited?: Found['citations'][number];
}

/** The lines of an answer, taken apart at the marks of its citations. */
function linesOf({ response, citations }: Found): Piece[][] {
  const lines: Piece[][] = [[]];
  let at = 0;
  const tell = (text: string): void => {
    for (const [i, part] of text.split('\n').entries()) {
      if (i > 0) lines.push([]);
      lines.at(-1)?.push({ text: plain(part.replace(/^- /, '')) });
    }
  };
  for (const cited of citations) {
    tell(response.slice(at, cited.at));
    at = response.indexOf(']', cited.at) + 1;
    lines.at(-1)?.push({ text: response.slice(cited.at, at), cited });
  }
  tell(response.slice(at));
  return lines;
}

/** An answer whose citations lead to the sentences they cite. */
function Cited({ found }: { found: Found }) {
  return (
    <>
      {linesOf(found).map((line, i) => (
        <p key={i}>
          {line.map(({ text, cited }, k) => {
            const one = found.context.find(({ n }) => n === cited?.n);
            return one === undefined ? (
              text
            ) : (
              <a key={k} href={addressOf(one, cited)} title={one.heading_path.join(' › ')}>
                {text}
              </a>
            );
          })}
        </p>
      ))}
    </>
  );
}
