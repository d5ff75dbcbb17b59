/** How the model sees the length of a text: passages are given to it in parts, so that none has a tail which it does not read. */
export interface Ruler {
  /** How many tokens it is given at once, without those that open and close a text. */
  most: number;
  tokensOf(text: string): number;
  /** Whether it reads a text at all; one that it does not is measured by its letters alone. */
  reads(text: string): boolean;
}

/** Where nothing is known of the model, letters are counted. */
export const byLetters: Ruler = { most: 1, tokensOf: () => 0, reads: () => false };
