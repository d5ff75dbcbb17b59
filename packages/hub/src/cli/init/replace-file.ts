import { copyFileSync, existsSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Puts a new text in the place of a file, whole or not at all, and keeps the old one beside it; gives the copy's path. */
export function replaceFile(file: string, text: string): string | undefined {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const isThere = existsSync(file);
  const backup = isThere ? `${file}.before-parley` : undefined;
  if (backup !== undefined) copyFileSync(file, backup);
  const fresh = `${file}.${process.pid}.new`;
  writeFileSync(fresh, text, { mode: isThere ? statSync(file).mode & 0o777 : 0o600 });
  renameSync(fresh, file);
  return backup;
}
