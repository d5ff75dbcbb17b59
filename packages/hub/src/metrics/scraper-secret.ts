import { readSecretFile } from '../secret-file.ts';

const LEAST_CHARS = 32;

/** The secret that lets a scraper in; undefined, with a word why, when there is no good one. */
export function scraperSecret(path: string, warn: (message: string) => void): string | undefined {
  if (path === '') return undefined;
  try {
    const file = readSecretFile(path);
    if (file === undefined) warn(`metrics.token_file is not used: ${path} is not there`);
    else if (file.openTo === 'everybody') warn(`metrics.token_file is not used: everybody may read ${path}`);
    else if (file.text.length < LEAST_CHARS)
      warn(`metrics.token_file is not used: the secret has fewer than ${LEAST_CHARS} characters`);
    else return file.text;
  } catch (error) {
    warn(`metrics.token_file is not used: ${error instanceof Error ? error.message : String(error)}`);
  }
  return undefined;
}
