import { seenJson, showUnseenLine } from '@parley/protocol';

/** Someone else's text on one line, unable to move the cursor, change colours, forge a line or hide anything. */
export { showUnseenLine as oneLine };

/** Someone else's text line by line, each as harmless as the next. */
export function harmlessLines(text: string): string[] {
  return text.split(/\r?\n/).map((line) => line.split('\t').map(showUnseenLine).join('  '));
}

/** JSON that reads the same and holds no raw control character, for those who print it to a terminal. */
export { seenJson as harmlessJson };
