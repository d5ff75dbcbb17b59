import { createHash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { fieldsOf } from '@parley/protocol';
import type { ModelName } from './index-words.ts';

/** A model, where its files are and how it wants its texts; it crosses to threads and processes as it is. */
export interface ModelChoice {
  name: ModelName;
  /** Undefined: the model that comes with the hub. */
  folder?: string;
  /** How many tokens it reads of a text. */
  tokens: number;
  /** How many it is given of a passage at once: less than it can read, where it sees more with less. */
  window: number;
  pooling: 'mean' | 'first';
  /** What it wants to stand before a question, and before a text. */
  ask: string;
  text: string;
  /** Texts in other languages are left to their words. */
  isEnglish: boolean;
}

/** The weights we have measured; others are not loaded as the hub's own. */
const WEIGHTS = 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1';

export const DIMENSIONS = 384;
/** Every vector says by which weights it was made: vectors of others are never compared with them. */
export const BUILT_IN: ModelChoice = {
  name: { id: `all-MiniLM-L6-v2@${WEIGHTS.slice(0, 8)}/${DIMENSIONS}`, dimensions: DIMENSIONS },
  tokens: 256,
  window: 128,
  pooling: 'mean',
  ask: '',
  text: '',
  isEnglish: true,
};

/** What the settings say of a model of the user's own. */
export type OwnModel = Pick<ModelChoice, 'tokens' | 'pooling' | 'ask' | 'text' | 'isEnglish'> & {
  folder: string;
};

/** Looks at a folder as Hugging Face has them: `config.json`, `tokenizer.json`, and the weights as ONNX. Throws where it is none. */
export function chooseModel(own: OwnModel): ModelChoice {
  const config = fieldsOf(readJson(own.folder, 'config.json'));
  const dimensions = config['hidden_size'];
  if (typeof dimensions !== 'number')
    throw new Error(`search.model.folder: ${own.folder}/config.json has no hidden_size`);
  const { model_max_length: longest } = fieldsOf(readTokenizer(own.folder).tokenizerConfig);
  const tokens = typeof longest === 'number' ? Math.min(own.tokens, longest) : own.tokens;
  const id = `${basename(own.folder)}@${sumOf(own.folder)}/${dimensions} ${own.pooling} ${tokens}`;
  return {
    ...own,
    tokens,
    window: tokens,
    name: { id: `${id} ${own.ask}|${own.text}`.trimEnd(), dimensions },
  };
}

/** The texts of a model's tokenizer. */
export interface TokenizerFiles {
  tokenizer: object;
  tokenizerConfig: object;
}

/** Reads what takes texts apart; undefined where the hub came without its model. */
export function readTokenizer(own: string): TokenizerFiles;
export function readTokenizer(own: string | undefined): TokenizerFiles | undefined;
export function readTokenizer(own: string | undefined): TokenizerFiles | undefined {
  const folder = own ?? builtIn();
  if (folder === undefined) return undefined;
  return {
    tokenizer: readJson(folder, 'tokenizer.json'),
    tokenizerConfig: readJson(folder, 'tokenizer_config.json'),
  };
}

/** Reads the weights; undefined where the hub came without its model. */
export function readWeights(own: string | undefined): Buffer | undefined {
  if (own !== undefined) return readFileSync(weightsIn(own));
  const folder = builtIn();
  if (folder === undefined) return undefined;
  const weights = readFileSync(join(folder, 'onnx/model_quantized.onnx'));
  if (createHash('sha256').update(weights).digest('hex') !== WEIGHTS)
    throw new Error('the weights of the search model are not those that were measured');
  return weights;
}

/** The folder beside the bundle; to the source it is that of the last build. */
function builtIn(): string | undefined {
  const place = import.meta.url.endsWith('.ts') ? '../../hub/dist/model/' : './model/';
  const folder = fileURLToPath(new URL(place, import.meta.url));
  return existsSync(join(folder, 'tokenizer.json')) ? folder : undefined;
}

const NAMES = ['onnx/model_quantized.onnx', 'onnx/model.onnx', 'model_quantized.onnx', 'model.onnx'];

function weightsIn(folder: string): string {
  const found = NAMES.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`search.model.folder: ${folder} has none of ${NAMES.join(', ')}`);
  return found;
}

function readJson(folder: string, name: string): object {
  try {
    // The files of a model hold objects; what is wanted of them is checked where it is read.
    return JSON.parse(readFileSync(join(folder, name), 'utf8')) as object;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`search.model.folder: ${name} cannot be read (${why})`, { cause: error });
  }
}

/** Tells weights apart by their size and their ends: to read all of them would hold up the start. */
function sumOf(folder: string): string {
  const file = openSync(weightsIn(folder), 'r');
  try {
    const { size } = fstatSync(file);
    const sum = createHash('sha256').update(String(size));
    const part = Buffer.alloc(65_536);
    for (const at of [0, size / 2, size - part.length])
      sum.update(part.subarray(0, readSync(file, part, 0, part.length, Math.max(0, Math.floor(at)))));
    return sum.digest('hex').slice(0, 8);
  } finally {
    closeSync(file);
  }
}
