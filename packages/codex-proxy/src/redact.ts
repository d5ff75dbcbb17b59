import { hideSecrets } from '@parley/runtimes';

/** Control characters of every kind, and marks that reorder or break lines. */
const HARMFUL = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Makes a text from outside fit for a log or a terminal: no secret, nothing that acts on it, one line. */
export function redact(text: string): string {
  return hideSecrets(text).replaceAll(
    HARMFUL,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}
