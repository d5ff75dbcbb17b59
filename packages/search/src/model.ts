import { createRequire } from 'node:module';

import type { AskedVector } from './index-words.ts';
import type { ModelChoice } from './model-files.ts';
import type { ModelReader } from './model-reader.ts';

/** Turns texts into vectors whose angle says how near their meanings are. */
export interface Model {
  /** Vectors of length 1; null for a text in a language that the model does not know. */
  embed(texts: readonly string[]): Promise<(Float32Array | null)[]>;
  /** The same for questions, which are often too short to tell their language. */
  ask(texts: readonly string[]): Promise<(AskedVector | null)[]>;
}

/** The part of the runtime that is used; its package brings no types that resolve. */
interface Runtime {
  InferenceSession: { create(weights: Buffer, options: object): Promise<OnnxSession> };
  Tensor: new (type: 'int64', values: BigInt64Array, shape: number[]) => unknown;
}

interface OnnxSession {
  inputNames: string[];
  outputNames: string[];
  run(feeds: Record<string, unknown>): Promise<Record<string, { data: Float32Array; dims: number[] }>>;
}

/** Loads the model and tries it; throws where its runtime does not run, or its vectors are not what was said of them. */
export async function openModel(weights: Buffer, reader: ModelReader, choice: ModelChoice): Promise<Model> {
  // It has no types of its own; this is what is used of it.
  const runtime = createRequire(import.meta.url)('onnxruntime-node') as Runtime;
  const session = await runtime.InferenceSession.create(weights, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    enableCpuMemArena: false,
  });
  const { dimensions } = choice.name;

  /** One text at a time: its numbers are scaled by the largest of a run, so that beside others it would get another vector. */
  async function vectorOf(text: string): Promise<Float32Array> {
    const ids = reader.encode(text);
    const row = (values: number[]) =>
      new runtime.Tensor('int64', BigInt64Array.from(values, BigInt), [1, ids.length]);
    const all: Record<string, unknown> = {
      input_ids: row(ids),
      attention_mask: row(ids.map(() => 1)),
      token_type_ids: row(ids.map(() => 0)),
    };
    const feeds = Object.fromEntries(session.inputNames.map((name) => [name, all[name]]));
    const output = (await session.run(feeds))[session.outputNames[0] ?? ''];
    if (output?.dims.at(-1) !== dimensions)
      throw new Error(`the search model gives no vectors of ${dimensions} numbers`);
    // A model that pools by itself gives one vector a text, others one a token.
    const isOne = output.dims.length === 2 || choice.pooling === 'first';
    return mean(output.data, isOne ? 1 : ids.length, dimensions);
  }

  await vectorOf('One for a try.');

  /** Only texts that the model may read; null for the others. */
  async function some<T>(
    texts: readonly string[],
    prefix: string,
    isRead: (text: string) => boolean,
    toMade: (vector: Float32Array, text: string) => T,
  ): Promise<(T | null)[]> {
    const made: (T | null)[] = [];
    for (const text of texts)
      made.push(isRead(text) ? toMade(await vectorOf(`${prefix}${text}`), text) : null);
    return made;
  }

  return {
    embed: (texts) =>
      some(
        texts,
        choice.text,
        (text) => reader.reads(text),
        (vector) => vector,
      ),
    ask: (texts) =>
      some(
        texts,
        choice.ask,
        (text) => reader.mayRead(text),
        (vector, text) => ({ vector, isSure: reader.understands(text) }),
      ),
  };
}

/** The mean of the tokens' vectors, made as long as 1. */
function mean(hidden: Float32Array, tokens: number, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (let t = 0; t < tokens; t++)
    for (let d = 0; d < dimensions; d++) vector[d]! += hidden[t * dimensions + d]!;
  const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0)) || 1;
  return vector.map((x) => x / length);
}
