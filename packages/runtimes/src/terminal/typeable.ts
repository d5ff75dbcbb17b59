import { type ProgramKind, showUnseen } from '@parley/protocol';

/** A text as it may be pasted, and what was changed in it. */
export interface Typeable {
  text: string;
  altered: ('control_characters' | 'opening' | 'ending' | 'quoted')[];
}

/** What no program takes for the sign of a command. */
const PLAIN_OPENING = /^[\p{L}\p{N}"'([<]/u;
/** A last word that would open a list, in which Enter picks instead of sending. */
const LIST_ENDING = /(?:^|\s)[@$/#:]\S*$/u;

/**
 * Makes a text harmless for the program that will get it. What steers a terminal or hides is shown instead, one by
 * one; then nothing at its start, nor a single word, can be a command of the program.
 */
export function makeTypeable(kind: ProgramKind, wanted: string): Typeable {
  const altered: Typeable['altered'] = [];
  const lines = wanted.replaceAll(/\r\n?|[\u2028\u2029]/g, '\n');
  let text = showUnseen(lines).trim();
  if (text !== lines.trim()) altered.push('control_characters');
  if (text === '') return { text, altered };
  if (kind === 'bash') {
    // Inside single quotes a shell reads nothing; the one way out of them is taken away.
    return { text: `: '${text.replaceAll("'", '’')}'`, altered: [...altered, 'quoted'] };
  }
  if (!PLAIN_OPENING.test(text) || !/\s/u.test(text)) {
    text = `Message: ${text}`;
    altered.push('opening');
  }
  if (LIST_ENDING.test(text)) {
    text = `${text} .`;
    altered.push('ending');
  }
  return { text, altered };
}
