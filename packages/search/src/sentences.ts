const segmenter = new Intl.Segmenter('und', { granularity: 'sentence' });

/** Without one of these a text is one sentence, whatever else stands in it (Unicode, annex 29). */
const END = /[\p{Sentence_Terminal}\u2024\ufe52\uff0e\r\n\u0085\u2028\u2029]/u;

/** A sentence and where it begins. */
interface Sentence {
  segment: string;
  index: number;
}

/** The sentences of a text; most lines have one, and are not taken apart. */
export function sentencesOf(text: string): Sentence[] {
  return END.test(text.slice(0, -1)) ? [...segmenter.segment(text)] : [{ segment: text, index: 0 }];
}
