import { readFileSync, statSync } from 'node:fs';

/** A secret as it was found in its file, without the blanks around it. */
export interface SecretFile {
  text: string;
  /** Who else may read it; nobody, where it is no file of the disk but what another program hands over. */
  openTo: 'nobody' | 'group' | 'everybody';
}

/** Reads a secret that the user put into a file; undefined where there is none. */
export function readSecretFile(path: string): SecretFile | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const mode = stat.isFile() ? stat.mode & 0o077 : 0;
  const openTo = mode === 0 ? 'nobody' : (mode & 0o007) === 0 ? 'group' : 'everybody';
  return { text: readFileSync(path, 'utf8').trim(), openTo };
}
