import type { FileHandle } from 'node:fs/promises';

import { openWithin } from './open-within.ts';

/** Where reading goes on: after the last whole line. */
export interface ReadPlace {
  /** Another file under the same name is read anew. */
  file: string;
  offset: number;
}

export interface NewLines {
  /** The only folder in which a file is read, wherever a link leads. */
  folder: string;
  path: string;
  place: ReadPlace | undefined;
  /** Another file stands in the place of the one that was read. */
  onNew: () => void;
  onLine: (line: string) => void;
}

const CHUNK = 262_144;
/** So much of a file at once; the rest comes with the next look. */
const MOST_BYTES = 33_554_432;
/** No line that tells tokens is longer. */
const MOST_LINE = 8_388_608;
const NEWLINE = 0x0a;

/** Reads the whole lines that have come since; the beginning of a line that is not whole waits. Undefined where there is nothing to read. */
export async function readNewLines({
  folder,
  path: name,
  place,
  onNew,
  onLine,
}: NewLines): Promise<(ReadPlace & { isAll: boolean }) | undefined> {
  const file = await openWithin(folder, name);
  if (file === undefined) return undefined;
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return undefined;
    const id = `${stat.dev}:${stat.ino}`;
    const isSame = place?.file === id && place.offset <= stat.size;
    if (place !== undefined && !isSame) onNew();
    const from = isSame ? place.offset : 0;
    const to = Math.min(stat.size, from + MOST_BYTES);
    const offset = from === to ? from : await readLines(file, from, to, onLine);
    return { file: id, offset, isAll: to === stat.size };
  } finally {
    await file.close();
  }
}

/** Where the last whole line ends. */
async function readLines(
  file: FileHandle,
  from: number,
  to: number,
  onLine: (line: string) => void,
): Promise<number> {
  let at = from;
  let ended = from;
  let parts: Buffer[] = [];
  let held = 0;
  while (at < to) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(CHUNK, to - at)), 0, undefined, at);
    if (bytesRead === 0) break;
    let start = 0;
    for (;;) {
      const end = buffer.indexOf(NEWLINE, start);
      if (end < 0 || end >= bytesRead) break;
      parts.push(buffer.subarray(start, end));
      if (held + end - start <= MOST_LINE) onLine(Buffer.concat(parts).toString());
      parts = [];
      held = 0;
      start = end + 1;
      ended = at + start;
    }
    held += bytesRead - start;
    if (held <= MOST_LINE) parts.push(buffer.subarray(start, bytesRead));
    else parts = [];
    at += bytesRead;
  }
  // What is longer than is read at once is no line of ours.
  return ended === from && to - from === MOST_BYTES ? to : ended;
}
