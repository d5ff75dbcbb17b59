import { errorCode } from '@parley/protocol';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Stands in a folder into which a record is being moved, until all of it is there. */
export const MOVE_FILE = 'moving.json';

/** From where a record is being moved into a folder; undefined where none is. */
export function readMove(folder: string): string | undefined {
  try {
    // This program wrote the file, whole.
    return (JSON.parse(readFileSync(join(folder, MOVE_FILE), 'utf8')) as { from: string }).from;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
