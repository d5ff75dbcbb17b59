/** More of a text is not looked for by its words. */
const MOST_TOKENS = 10_000;
const LONGEST = 200;
/** Beyond so many different words a search looks for the first ones alone. */
const MOST_WORDS = 16;
/** The highest place that a tsvector keeps. */
const LAST_PLACE = 16_383;

/** The words of a text as they are looked for: without marks, in small letters. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? [])
    .slice(0, MOST_TOKENS)
    .map((word) => word.slice(0, LONGEST).toWellFormed());
}

/** A message as the index of words keeps it, with the workspace that it is of. */
export function tokensOf(workspaceId: string, text: string): string {
  const places = new Map<string, number[]>();
  for (const [i, word] of wordsOf(text).entries()) {
    const known = places.get(word);
    const place = Math.min(i + 1, LAST_PLACE);
    if (known === undefined) places.set(word, [place]);
    else if (known.length < 250) known.push(place);
  }
  const words = [...places].map(([word, at]) => `'${word}':${at.join()}`);
  return [quoted(marker(workspaceId)), ...words].join(' ');
}

/** What is looked for: all words, and those that are written together side by side. */
export interface Asked {
  query: string;
  /** There were more words than are looked for. */
  cut: boolean;
}

/** A search in the words of the index; undefined where it has none. */
export function askedFor(workspaceId: string, text: string): Asked | undefined {
  const parts = text.match(/"[^"]*"|[^\s"]+/gu) ?? [];
  const wanted: string[] = [];
  const seen = new Set<string>();
  let cut = false;
  for (const part of parts) {
    const words = wordsOf(part);
    for (const word of words) seen.add(word);
    if (words.length === 0) continue;
    if (seen.size > MOST_WORDS) {
      cut = true;
      break;
    }
    wanted.push(`(${words.map(quoted).join(' <-> ')})`);
  }
  if (wanted.length === 0) return undefined;
  return { query: [quoted(marker(workspaceId)), ...wanted].join(' & '), cut };
}

/** Stands in the words of every message of a workspace, and in no text: it has a sign in it. */
function marker(workspaceId: string): string {
  return `=${workspaceId}`;
}

function quoted(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
