/** A piece of a text with the words that were looked for made plain. */
export function Snippet({ text, query }: { text: string; query: string }) {
  const words = query.match(/[\p{L}\p{N}_]+/gu) ?? [];
  const parts = words.length === 0 ? [text] : text.split(new RegExp(`(${words.join('|')})`, 'giu'));
  return <>{parts.map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part))}</>;
}
