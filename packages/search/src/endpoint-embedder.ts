import { createHash } from 'node:crypto';

import { inTime } from '@parley/protocol';

import type { Embedder } from './embedder.ts';
import { askEndpoint, type ModelEndpoint } from './model-endpoint.ts';
import { mayBeModelLanguage } from './model-language.ts';

/** Where an OpenAI-compatible model makes vectors. */
export interface EmbeddingEndpoint extends ModelEndpoint {
  /** How many numbers its vectors have. */
  dimensions: number;
  timeoutMs: number;
  /** How many texts it is sent at once. */
  batch: number;
  /** Texts in other languages are then left to their words. */
  englishOnly: boolean;
  onFault: (error: unknown) => void;
}

interface EmbeddingsReply {
  data?: { index?: unknown; embedding?: unknown }[];
}

/** Vectors made elsewhere. While the endpoint fails there are none; it is told of once, and asked again later. */
export function createEndpointEmbedder(options: EmbeddingEndpoint): Embedder {
  const { endpoint, model, dimensions, batch } = options;
  const base = endpoint.replace(/\/+$/, '');
  const id = `${model}@${createHash('sha256').update(base).digest('hex').slice(0, 8)}/${dimensions}`;
  const closing = new AbortController();
  let isFailing = false;

  async function vectors(input: readonly string[]): Promise<(Float32Array | null)[]> {
    const asked = { input, encoding_format: 'float' };
    const answer = await inTime(options.timeoutMs, closing.signal, (signal) =>
      askEndpoint(options, 'embeddings', asked, signal),
    );
    // Each vector is checked below.
    const { data = [] } = answer as EmbeddingsReply;
    const made = new Map(data.map(({ index, embedding }) => [index, embedding]));
    return input.map((_, i) => toVector(made.get(i), dimensions));
  }

  async function tried<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      const done = await work();
      isFailing = false;
      return done;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (!isFailing && !closing.signal.aborted)
        options.onFault(new Error(`texts are found by their words alone for now: ${why}`));
      isFailing = true;
      return undefined;
    }
  }

  const isKnown = (text: string): boolean => !options.englishOnly || mayBeModelLanguage(text);

  return {
    model: { id, dimensions },
    fault: undefined,
    embed: (texts) =>
      tried(async () => {
        const known = texts.filter(isKnown);
        const made: (Float32Array | null)[] = [];
        for (let i = 0; i < known.length; i += batch)
          made.push(...(await vectors(known.slice(i, i + batch))));
        return texts.map((text) => (isKnown(text) ? (made.shift() ?? null) : null));
      }),
    ask: (text) =>
      tried(async () => {
        if (!isKnown(text)) return null;
        const [vector] = await vectors([text]);
        return vector ? { vector, isSure: true } : null;
      }),
    close() {
      closing.abort();
      return Promise.resolve();
    },
  };
}

/** A vector of length 1; null for one that points nowhere. */
function toVector(embedding: unknown, dimensions: number): Float32Array | null {
  if (!Array.isArray(embedding) || !embedding.every((x) => typeof x === 'number' && Number.isFinite(x)))
    throw new Error('the endpoint gave no vector for a text');
  if (embedding.length !== dimensions)
    throw new Error(
      `the endpoint gives vectors of ${embedding.length} numbers, but search.embeddings.dimensions is ${dimensions}`,
    );
  const vector = Float32Array.from(embedding);
  const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
  return length === 0 ? null : vector.map((x) => x / length);
}
