import { createRequire } from 'node:module';

import { Tokenizer } from '@huggingface/tokenizers';

import { DIMENSIONS, type ModelFiles } from './model-files.ts';
import { isModelLanguage, mayBeModelLanguage } from './model-language.ts';

/** Turns texts into vectors whose angle says how near their meanings are. */
export interface Model {
  /** A vector of length 1; null for a text in a language that the model does not know. */
  embed(text: string): Promise<Float32Array | null>;
  /** The same for a question, which is often too short to tell its language. */
  ask(text: string): Promise<AskedVector | null>;
}

/** A question's vector, and whether the question is surely in the language of the model. */
export interface AskedVector {
  vector: Float32Array;
  isSure: boolean;
}

/** The part of the runtime that is used; its package brings no types that resolve. */
interface Runtime {
  InferenceSession: { create(weights: Buffer, options: object): Promise<Session> };
  Tensor: new (type: 'int64', values: BigInt64Array, shape: number[]) => unknown;
}

interface Session {
  outputNames: string[];
  run(feeds: Record<string, unknown>): Promise<Record<string, { data: Float32Array }>>;
}

/** What the model reads of a text, in its tokens. */
const MOST_TOKENS = 256;
/** More text than that many tokens ever are. */
const MOST_LETTERS = 4_000;

/** Loads the model; throws where its runtime does not run. */
export async function openModel(files: ModelFiles): Promise<Model> {
  const runtime = createRequire(import.meta.url)('onnxruntime-node') as Runtime;
  const session = await runtime.InferenceSession.create(files.weights, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    enableCpuMemArena: false,
  });
  const tokenizer = new Tokenizer(files.tokenizer, files.tokenizerConfig);
  const isKnown = (word: string): boolean => tokenizer.token_to_id(word) !== undefined;

  async function vectorOf(text: string): Promise<Float32Array> {
    const { ids } = tokenizer.encode(text.slice(0, MOST_LETTERS));
    const end = ids.at(-1);
    const kept =
      ids.length <= MOST_TOKENS || end === undefined ? ids : [...ids.slice(0, MOST_TOKENS - 1), end];
    const shape = [1, kept.length];
    const row = (values: number[]) => new runtime.Tensor('int64', BigInt64Array.from(values, BigInt), shape);
    const output = await session.run({
      input_ids: row(kept),
      attention_mask: row(kept.map(() => 1)),
      token_type_ids: row(kept.map(() => 0)),
    });
    return pool(output[session.outputNames[0] ?? '']?.data ?? new Float32Array(), kept.length);
  }

  return {
    embed: async (text) => (isModelLanguage(text, isKnown) ? vectorOf(text) : null),
    async ask(text) {
      if (!mayBeModelLanguage(text)) return null;
      return { vector: await vectorOf(text), isSure: isModelLanguage(text, isKnown) };
    },
  };
}

/** The mean of the tokens' vectors, made as long as 1. */
function pool(hidden: Float32Array, tokens: number): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (let t = 0; t < tokens; t++)
    for (let d = 0; d < DIMENSIONS; d++) vector[d] = (vector[d] ?? 0) + (hidden[t * DIMENSIONS + d] ?? 0);
  const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0)) || 1;
  return vector.map((x) => x / length);
}
