import { readFileSync, statSync } from 'node:fs';

const LEAST_CHARS = 32;

/** The secret in a file that not everybody may read; undefined, with a word why, when there is no good one. */
export function readSecret(path: string, warn: (message: string) => void): string | undefined {
  if (path === '') return undefined;
  try {
    const secret = readFileSync(path, 'utf8').trim();
    if ((statSync(path).mode & 0o007) !== 0)
      warn(`metrics.token_file is not used: everybody may read ${path}`);
    else if (secret.length < LEAST_CHARS)
      warn(`metrics.token_file is not used: the secret has fewer than ${LEAST_CHARS} characters`);
    else return secret;
  } catch (error) {
    warn(`metrics.token_file is not used: ${error instanceof Error ? error.message : String(error)}`);
  }
  return undefined;
}
