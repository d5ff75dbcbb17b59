/** How soon a word that is repeated says nothing new, and how much length counts against a text: what BM25 is published with. */
const K1 = 1.5;
const B = 0.75;

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** The reference of every search by words: BM25 over whole texts, words as ICU tells them, in lower case, nothing else. */
export class PlainBm25 {
  readonly #postings = new Map<string, Map<number, number>>();
  readonly #lengths: number[] = [];
  readonly #ids: string[];
  readonly #usual: number;

  constructor(documents: readonly (readonly [id: string, title: string, text: string])[]) {
    this.#ids = documents.map(([id]) => id);
    for (const [i, [, title, text]] of documents.entries()) {
      const words = wordsOf(`${title}\n${text}`);
      this.#lengths.push(words.length);
      for (const word of words) {
        const posting = this.#postings.get(word) ?? new Map<number, number>();
        this.#postings.set(word, posting.set(i, (posting.get(i) ?? 0) + 1));
      }
    }
    this.#usual = this.#lengths.reduce((sum, one) => sum + one, 0) / this.#lengths.length;
  }

  find(question: string, count: number): string[] {
    const scores = new Map<number, number>();
    for (const word of wordsOf(question)) {
      const posting = this.#postings.get(word);
      if (posting === undefined) continue;
      const rarity = Math.log(1 + (this.#ids.length - posting.size + 0.5) / (posting.size + 0.5));
      for (const [i, times] of posting) {
        const much = K1 * (1 - B + (B * this.#lengths[i]!) / this.#usual);
        scores.set(i, (scores.get(i) ?? 0) + (rarity * times) / (times + much));
      }
    }
    return [...scores]
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, count)
      .map(([i]) => this.#ids[i]!);
  }
}

function wordsOf(text: string): string[] {
  return [...segmenter.segment(text.normalize('NFC').toLowerCase())].flatMap(({ segment, isWordLike }) =>
    isWordLike === true ? [segment] : [],
  );
}
