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

/**
 * Refuses a name that is a path, or that would make a page or a program of a harmless type; also one that becomes so
 * when somebody decodes it, or writes its look-alikes plainly.
 */
export function checkName(name: string): void {
  for (const meant of readings(name)) {
    if (/[\\/\p{Cc}]/u.test(meant) || /^\s*\.+\s*$/.test(meant))
      throw invalid('name', 'name: must be the name of a file, without a path');
    if (RISKY.test(meant.replace(/[\s.]+$/, '')))
      throw invalid('name', 'name: pages and programs are not taken');
  }
}

/** A name and whatever it turns into when it is decoded, as often as that changes it. */
function* readings(name: string): Generator<string> {
  for (let meant = name, before = ''; meant !== before;) {
    yield meant;
    before = meant;
    meant = meant.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    // Fullwidth and other slashes are plain ones to those who normalise.
    meant = meant
      .normalize('NFKC')
      .replaceAll(/[\u2044\u2215\u29f8]/g, '/')
      .replaceAll(/[\u2216\u29f5]/g, '\\');
  }
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
