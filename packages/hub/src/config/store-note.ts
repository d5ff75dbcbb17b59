import { fieldsOf } from '@parley/protocol';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where a data folder says of which database it is a node. */
export const STORE_FILE = 'store.json';

/** The database that a node with this folder served last, without a password; undefined where the folder holds its record itself. */
export function storeNote(folder: string): string | undefined {
  try {
    const { store } = fieldsOf(JSON.parse(readFileSync(join(folder, STORE_FILE), 'utf8')));
    return typeof store === 'string' ? store : undefined;
  } catch {
    // None, or none that can be read: then whoever wants a database names it.
    return undefined;
  }
}

/** An address without what lets somebody in: that stands in the environment, or in the file of passwords. */
export function withoutPassword(address: string): string {
  const url = new URL(address);
  url.password = '';
  url.searchParams.delete('password');
  return url.href;
}
