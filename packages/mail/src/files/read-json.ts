import type { BigIntStats } from 'node:fs';
import { constants, lstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { ParleyError, errorText, errorCode } from '@parley/protocol';

/** A file as it was read; it stays open, so that its inode cannot become another file's. */
export interface ReadFile {
  /** Undefined when there is no file. */
  value: unknown;
  /** True as long as the path still leads to the very bytes that were read. */
  isCurrent(): boolean;
  close(): Promise<void>;
}

const MOST_BYTES = 67_108_864;
const TRIES = 4;
const BETWEEN_MS = 25;

/** Reads a JSON file that others write; what cannot be understood is an error, never nothing. */
export async function readJson(path: string): Promise<ReadFile> {
  // A writer that does not rename may be caught in the middle.
  for (let tries = 1; ; tries += 1) {
    try {
      return await readOnce(path);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      if (tries === TRIES)
        throw new ParleyError(
          'CONFLICT',
          `${path} cannot be understood and is left as it is: ${error.message}; repair it or move it away`,
          { path },
        );
    }
    await sleep(BETWEEN_MS);
  }
}

async function readOnce(path: string): Promise<ReadFile> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT')
      return { value: undefined, isCurrent: () => look(path) === undefined, close: async () => {} };
    if (code === 'ELOOP' || code === 'EMLINK')
      throw new ParleyError('FORBIDDEN', `${path} is a link; it is neither read nor written`, { path });
    throw failed(path, error);
  }
  try {
    const seen = await file.stat({ bigint: true });
    if (!seen.isFile()) throw new ParleyError('FORBIDDEN', `${path} is no plain file`, { path });
    if (seen.size > MOST_BYTES)
      throw new ParleyError('CONFLICT', `${path} is larger than ${MOST_BYTES} bytes; move old mail away`, {
        path,
      });
    const value = parse(await file.readFile());
    return {
      value,
      isCurrent: () => sameFile(look(path), seen),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** What tells a file's content apart from any other: changes with every writer, whether it renames or not. */
export function sameFile(a: BigIntStats | undefined, b: BigIntStats | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
}

/** What stands at a path now, links not followed. */
export function look(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** An error of the file system in words for the caller. */
export function failed(path: string, error: unknown): ParleyError {
  const [code, message] = [errorCode(error) ?? 'unknown', errorText(error)];
  return new ParleyError('UNAVAILABLE', `${path}: ${message}`, { path, cause: code });
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new SyntaxError(bytes.length === 0 ? 'the file is empty' : errorText(error), {
      cause: error,
    });
  }
}
