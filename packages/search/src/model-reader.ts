import { Tokenizer } from '@huggingface/tokenizers';

import { spellOut } from './code-words.ts';
import { type ModelChoice, readTokenizer, type TokenizerFiles } from './model-files.ts';
import { isModelLanguage, isModelQuestion, LOOKED_AT, mayBeModelLanguage } from './model-language.ts';
import { byLetters, type Ruler } from './ruler.ts';

/** Takes texts apart as the model reads them. */
export interface ModelReader extends Ruler {
  /** The numbers of a text's tokens, as many as the model reads. */
  encode(text: string): number[];
  /** Whether a question may be in a language of the model; it is often too short to be sure. */
  mayRead(text: string): boolean;
  /** Whether it most likely is. */
  understands(question: string): boolean;
}

/** No text of so many letters has fewer tokens than a model reads. */
const LETTERS_A_TOKEN = 16;

/** The reader of a model: what it counts is what the model sees. */
export function createReader(
  { tokenizer, tokenizerConfig }: TokenizerFiles,
  {
    tokens: most,
    window,
    isEnglish,
    text: prefix,
  }: Pick<ModelChoice, 'tokens' | 'window' | 'isEnglish' | 'text'>,
): ModelReader {
  const words = new Tokenizer(tokenizer, tokenizerConfig);
  const isKnown = (word: string): boolean => words.token_to_id(word) !== undefined;
  const idsOf = (text: string): number[] => words.encode(text.slice(0, most * LETTERS_A_TOKEN)).ids;
  const around = idsOf('').length;

  return {
    most: window - around - (prefix === '' ? 0 : idsOf(prefix).length),
    tokensOf: (text) => idsOf(spellOut(text, isKnown)).length - around,
    reads: (text) => !isEnglish || isModelLanguage(spellOut(text.slice(0, LOOKED_AT), isKnown), isKnown),
    understands: (text) =>
      !isEnglish || isModelQuestion(spellOut(text.slice(0, LOOKED_AT), isKnown), isKnown),
    mayRead: (text) => !isEnglish || mayBeModelLanguage(text),
    encode(text) {
      const ids = idsOf(spellOut(text, isKnown));
      const end = ids.at(-1);
      return ids.length <= most || end === undefined ? ids : [...ids.slice(0, most - 1), end];
    },
  };
}

/** What measures passages by the tokens of a model; the tokenizer is read with the first text. */
export function createRuler(choice: ModelChoice): Ruler {
  let ruler: Ruler | undefined;
  const opened = (): Ruler => {
    const files = ruler === undefined ? readTokenizer(choice.folder) : undefined;
    return (ruler ??= files === undefined ? byLetters : createReader(files, choice));
  };
  return {
    get most() {
      return opened().most;
    },
    tokensOf: (text) => opened().tokensOf(text),
    reads: (text) => opened().reads(text),
  };
}
