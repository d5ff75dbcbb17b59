import { readFileSync } from 'node:fs';

import { ParleyError } from '@parley/protocol';

/** Where the configuration says that a key is. */
interface SecretPlace {
  api_key_env: string;
  api_key_file: string;
}

/** The key that the configuration points at; undefined when it names none. What it names must be there. */
export function readSecret({ api_key_env, api_key_file }: SecretPlace, whose: string): string | undefined {
  if (api_key_env !== '') {
    const value = process.env[api_key_env];
    if (value === undefined || value === '')
      throw new ParleyError('VALIDATION_ERROR', `configuration: ${whose}: ${api_key_env} is not set`);
    return value;
  }
  if (api_key_file === '') return undefined;
  try {
    const value = readFileSync(api_key_file, 'utf8').trim();
    if (value !== '') return value;
  } catch {
    // The same to whoever has to put it right.
  }
  throw new ParleyError('VALIDATION_ERROR', `configuration: ${whose}: ${api_key_file} holds no key`);
}
