import { ParleyError } from '@parley/protocol';

import { invalid } from '../draft.ts';

/** Endings of files that a double click would run or show as a page, whatever type they were sent with. */
const RISKY = /\.(html?|xhtml|svgz?|exe|dll|com|scr|msi|bat|cmd|ps1|vbs|hta|lnk|jar|app)$/i;

/** How the bytes of a type begin, a question mark for any; where none is known, nothing is asked. */
const BEGINNINGS: Record<string, readonly string[]> = {
  'image/png': ['\x89PNG\r\n\x1a\n'],
  'image/jpeg': ['\xff\xd8\xff'],
  'image/gif': ['GIF87a', 'GIF89a'],
  'image/webp': ['RIFF????WEBP'],
  'application/pdf': ['%PDF-'],
  'application/zip': ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08'],
  'application/gzip': ['\x1f\x8b'],
};

/** How many bytes tell whether something is what its type says. */
export const BEGINNING_BYTES = 512;

/** Refuses a type that is not taken; the answer names those that are. */
export function checkType(mime_type: string, types: readonly string[]): void {
  if (types.includes(mime_type)) return;
  throw new ParleyError('VALIDATION_ERROR', `mime_type: ${mime_type.slice(0, 64)} is not taken`, {
    field: 'mime_type',
    supported: types,
  });
}

/** Refuses a name that is a path, or that would make a page or a program of a harmless type. */
export function checkName(name: string): void {
  if (/[\\/\p{Cc}]/u.test(name) || /^\.+$/.test(name))
    throw invalid('name', 'name: must be the name of a file, without a path');
  if (RISKY.test(name)) throw invalid('name', 'name: pages and programs are not taken');
}

/** Refuses bytes that are not what their type says, as far as their beginning tells. */
export function checkBeginning(mime_type: string, bytes: Uint8Array): void {
  const beginning = Buffer.from(bytes.subarray(0, BEGINNING_BYTES)).toString('latin1');
  const known = BEGINNINGS[mime_type];
  const isText = mime_type.startsWith('text/') || mime_type === 'application/json';
  const fits =
    known === undefined ? !isText || !beginning.includes('\0') : known.some((one) => begins(beginning, one));
  if (fits) return;
  throw invalid('mime_type', `mime_type: the bytes are no ${mime_type}`);
}

function begins(text: string, pattern: string): boolean {
  return Array.from(pattern).every((sign, i) => sign === '?' || sign === text[i]);
}
