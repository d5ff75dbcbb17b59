import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const MOST_BYTES = 1_048_576;

/** Reads a file of text; says why not in words that follow its name. `check` may refuse what was opened. */
export async function readText(
  path: string,
  more: { noLink?: boolean; check?: (file: FileHandle) => Promise<void> } = {},
): Promise<string> {
  // A pipe would wait for its writer.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (more.noLink === true ? constants.O_NOFOLLOW : 0);
  const file = await open(path, flags).catch(() => {
    throw new Error('does not exist or is not readable');
  });
  try {
    await more.check?.(file);
    const found = await file.stat();
    if (!found.isFile()) throw new Error('is no plain file');
    if (found.size > MOST_BYTES) throw new Error(`is larger than ${MOST_BYTES} bytes`);
    return decode(await file.readFile());
  } finally {
    await file.close();
  }
}

function decode(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // It is told below.
  }
  throw new Error('is not UTF-8 text');
}
