import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { extname } from 'node:path';

import { ParleyError } from '@parley/protocol';

const TYPES: Record<string, string> = {
  '.txt': 'text/plain',
  '.log': 'text/plain',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.pdf': 'application/pdf',
  '.zip': 'application/zip',
  '.gz': 'application/gzip',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

/** The MIME type that the end of a name tells. */
export function typeOf(name: string): string {
  const type = TYPES[extname(name).toLowerCase()];
  if (type !== undefined) return type;
  throw new ParleyError('VALIDATION_ERROR', `--type: the end of ${name} does not tell; give a MIME type`);
}

/** How many bytes a plain file has. */
export function sizeOf(file: string): number {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) throw new ParleyError('NOT_FOUND', `${file} is not there`);
  if (!stat.isFile()) throw new ParleyError('VALIDATION_ERROR', `${file} is no plain file`);
  return stat.size;
}

/** The SHA-256 of a file. */
export async function hashOf(file: string): Promise<string> {
  const sum = createHash('sha256');
  // Without an encoding its pieces are bytes.
  for await (const piece of createReadStream(file)) sum.update(piece as Buffer);
  return sum.digest('hex');
}
