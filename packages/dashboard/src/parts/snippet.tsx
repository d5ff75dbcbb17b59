import { plainWords } from '@parley/protocol';

/** A piece of a text with the words that were looked for made plain. */
export function Snippet({ text: given, query }: { text: string; query: string }) {
  const text = plainWords(given);
  const words = query.match(/[\p{L}\p{N}_]+/gu) ?? [];
  if (words.length === 0) return <>{text}</>;
  const asked = new RegExp(`^(?:${words.join('|')})`, 'iu');
  // Word by word: what was looked for is where one begins, not a part of it.
  return (
    <>
      {text.split(/([\p{L}\p{N}_]+)/u).map((part, i) => {
        const [found = ''] = (i % 2 === 1 && asked.exec(part)) || [];
        if (found === '') return part;
        return [<mark key={i}>{found}</mark>, part.slice(found.length)];
      })}
    </>
  );
}
