import { ParleyError } from '@parley/protocol';

import { readSecretFile } from '../secret-file.ts';

/** Where the configuration says that a key is. */
interface SecretPlace {
  api_key_env: string;
  api_key_file: string;
}

/** The key that the configuration points at; undefined when it names none. What it names must be there. */
export function readKey({ api_key_env, api_key_file }: SecretPlace, whose: string): string | undefined {
  if (api_key_env !== '') {
    const key = keyInEnvironment(api_key_env);
    if (key === undefined)
      throw new ParleyError('VALIDATION_ERROR', `configuration: ${whose}: ${api_key_env} is not set`);
    return key;
  }
  if (api_key_file === '') return undefined;
  const key = keyInFile(api_key_file);
  if (key !== '') return key;
  throw new ParleyError('VALIDATION_ERROR', `configuration: ${whose}: ${api_key_file} holds no key`);
}

/** The key in a variable that the configuration names; undefined where it names none, or the variable is empty. */
export function keyInEnvironment(name: string): string | undefined {
  return name === '' ? undefined : process.env[name] || undefined;
}

function keyInFile(path: string): string {
  try {
    return readSecretFile(path)?.text ?? '';
  } catch {
    // The same to whoever has to put it right.
    return '';
  }
}
