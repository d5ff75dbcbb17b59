/** A part of a page: its address, the title of the page, its heading and its words. */
export type Passage = readonly [address: string, title: string, heading: string, text: string];

interface Found {
  address: string;
  title: string;
  heading: string;
  /** The words around the first that was looked for. */
  text: string;
}

const MOST = 12;
const AROUND = 60;

/** The passages that hold all words, or words that begin so; those whose headings do come first. */
export function find(passages: readonly Passage[], asked: string): Found[] {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return passages
    .map((passage) => ({ passage, weight: weightOf(passage, words) }))
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, MOST)
    .map(({ passage: [address, title, heading, text] }) => ({
      address,
      title,
      heading,
      text: around(text, words),
    }));
}

/** How well a passage fits; 0 where a word is missing. */
function weightOf([address, title, heading, text]: Passage, words: readonly string[]): number {
  let weight = address.startsWith('/docs/decisions/') ? 0.5 : 1;
  for (const word of words) {
    const [inHeading, inTitle, inText] = [heading, title, text].map((part) => hasWord(part, word));
    if (inHeading === false && inTitle === false && inText === false) return 0;
    weight += (inHeading === true ? 8 : 0) + (inTitle === true ? 6 : 0) + (inText === true ? 1 : 0);
  }
  // Of a page whose title fits, its beginning.
  return heading === '' ? weight + 1 : weight;
}

function hasWord(text: string, word: string): boolean {
  const lower = text.toLowerCase();
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1))
    if (at === 0 || !/[a-z0-9]/.test(lower.charAt(at - 1))) return true;
  return false;
}

function around(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const at = Math.max(
    0,
    Math.min(...words.map((word) => lower.indexOf(word)).filter((i) => i >= 0), text.length) - AROUND,
  );
  const piece = text.slice(at, at + 3 * AROUND);
  return `${at > 0 ? '… ' : ''}${piece}${at + piece.length < text.length ? ' …' : ''}`;
}
