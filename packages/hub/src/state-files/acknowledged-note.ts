import { join } from 'node:path';

import { ParleyError } from '@parley/protocol';
import * as z from 'zod';

import { readPrivateFile, writePrivateFile } from '../data-folder.ts';

/** Where a node of a database notes how far it has acknowledged; it belongs to the node and not to the database. */
const ACKNOWLEDGED_FILE = 'acknowledged.json';

const Heads = z.record(z.string(), z.number().int().min(0));

/** The note of one node, in its data folder. */
export function acknowledgedNote(folder: string, onFault: (message: string) => void) {
  const path = join(folder, ACKNOWLEDGED_FILE);
  return {
    read(): Record<string, number> {
      const text = readPrivateFile(path);
      if (text === undefined) return {};
      try {
        return Heads.parse(JSON.parse(text));
      } catch {
        throw new ParleyError(
          'UNAVAILABLE',
          `${path} cannot be read; remove it if the database is the newest`,
        );
      }
    },
    write(heads: Record<string, number>): void {
      try {
        writePrivateFile(path, `${JSON.stringify(heads)}\n`);
      } catch (error) {
        onFault(`${ACKNOWLEDGED_FILE}: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
  };
}
