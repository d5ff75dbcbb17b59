import { createReadStream } from 'node:fs';

import { createLineReader } from '../process/line-reader.ts';

/** No record of Codex is as long as this. */
const MOST_BYTES = 268_435_456;

/**
 * Which of these words stand in a rollout, Codex's own record of a thread. Only whole records count: what a kill has
 * cut short Codex does not take up again.
 */
export async function findInRollout(path: string, words: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  const lines = createLineReader({
    maxBytes: MOST_BYTES,
    onLine(line) {
      const here = words.filter((word) => !found.has(word) && line.includes(word));
      if (here.length > 0 && isRecord(line)) for (const word of here) found.add(word);
    },
    onOversized: () => {},
  });
  // Without an encoding its pieces are bytes.
  for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576 })) lines.take(chunk as Buffer);
  lines.end();
  return found;
}

function isRecord(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
}
