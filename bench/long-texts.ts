import type { IndexedDocument, Search } from '@parley/search';

/** A paragraph and the questions that it answers. */
export interface Paragraph {
  text: string;
  questions: readonly string[];
}

type Half = 'first' | 'second';

interface Placed {
  question: string;
  document_id: string;
  /** A place inside the paragraph that answers. */
  middle: number;
  half: Half;
}

/** So many paragraphs make a text: about one passage, more than a model reads at once; and several passages. */
export const PARAGRAPHS_A_TEXT = [2, 10] as const;
const BETWEEN = '\n\n';
const LONG = 600_000;

/**
 * How well the right place of a long text is found, nDCG@10, for questions about its first and about its second half.
 * The paragraphs are joined in their order and backwards, so that the same questions are asked of both halves.
 */
export async function compareHalves(
  search: Search,
  paragraphs: readonly Paragraph[],
  perText: number,
  leg: 'keyword' | 'vectors' | 'hybrid',
): Promise<Record<Half, number>> {
  const gains: Record<Half, number[]> = { first: [], second: [] };
  for (const [workspace_id, inOrder] of [
    [`texts of ${perText}`, paragraphs],
    [`texts of ${perText} backwards`, paragraphs.toReversed()],
  ] as const) {
    const { documents, placed } = joined(workspace_id, inOrder, perText);
    const known = new Set((await search.known(workspace_id)).map(({ document_id }) => document_id));
    await search.apply(
      documents.filter(({ document_id }) => !known.has(document_id)),
      [],
    );
    await search.settled();
    for (const { question: text, document_id, middle, half } of placed) {
      const { passages } = await search.find({ workspace_id, text, tags: [], limit: 10, leg }, LONG, LONG);
      const rank = passages.findIndex(
        (one) => one.document_id === document_id && one.start <= middle && middle < one.end,
      );
      gains[half].push(rank < 0 ? 0 : 1 / Math.log2(rank + 2));
    }
  }
  const mean = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0) / all.length;
  return { first: mean(gains.first), second: mean(gains.second) };
}

function joined(
  workspace_id: string,
  paragraphs: readonly Paragraph[],
  perText: number,
): { documents: IndexedDocument[]; placed: Placed[] } {
  const documents: IndexedDocument[] = [];
  const placed: Placed[] = [];
  for (let i = 0; i + perText <= paragraphs.length; i += perText) {
    const some = paragraphs.slice(i, i + perText);
    const body = some.map(({ text }) => text).join(BETWEEN);
    const document_id = `t${i}`;
    const fixed = { version: '1', revision: 1, title: '', tags: [], mime_type: 'text/plain' };
    documents.push({ workspace_id, document_id, body, ...fixed });
    let start = 0;
    for (const { text, questions } of some) {
      const middle = start + Math.floor(text.length / 2);
      const half = middle < body.length / 2 ? 'first' : 'second';
      for (const question of questions) placed.push({ question, document_id, middle, half });
      start += text.length + BETWEEN.length;
    }
  }
  return { documents, placed };
}
