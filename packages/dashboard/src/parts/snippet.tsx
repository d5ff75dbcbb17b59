/** A piece of a text with the words that were looked for made plain. */
export function Snippet({ text, query }: { text: string; query: string }) {
  const words = query.match(/[\p{L}\p{N}_]+/gu) ?? [];
  // Where a word begins: what was looked for is not a part of another word.
  const begins = '(?<![\\p{L}\\p{N}_])';
  const parts = words.length === 0 ? [text] : text.split(new RegExp(`${begins}(${words.join('|')})`, 'giu'));
  return <>{parts.map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part))}</>;
}
