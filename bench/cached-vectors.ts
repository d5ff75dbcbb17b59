import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

import type { Embedder } from '@parley/search';

/** Keeps the vectors of a run in a file for the next one, and for the other index: making them takes minutes. */
export function keepVectors(embedder: Embedder, path: string): Embedder {
  const size = 20 + embedder.model.dimensions * 4;
  const kept = new Map<string, Float32Array>();
  const asked = new Map<string, ReturnType<Embedder['ask']>>();
  const old = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  for (let at = 0; at + size <= old.length; at += size) {
    const numbers = old.buffer.slice(old.byteOffset + at + 20, old.byteOffset + at + size);
    kept.set(old.toString('hex', at, at + 20), new Float32Array(numbers));
  }
  const nameOf = (text: string): string =>
    createHash('sha1').update(`${embedder.model.id}\n${text}`).digest('hex');

  return {
    model: embedder.model,
    ...(embedder.measure === undefined ? {} : { measure: embedder.measure }),
    get fault() {
      return embedder.fault;
    },
    async embed(texts) {
      const missing = texts.filter((text) => !kept.has(nameOf(text)));
      const made = missing.length === 0 ? [] : await embedder.embed(missing);
      if (made === undefined) return undefined;
      for (const [i, text] of missing.entries()) {
        // A vector of zeros stands for a language that the model does not know.
        const vector = made[i] ?? new Float32Array(embedder.model.dimensions);
        kept.set(nameOf(text), vector);
        const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
        appendFileSync(path, Buffer.concat([Buffer.from(nameOf(text), 'hex'), bytes]));
      }
      return texts.map((text) => {
        const vector = kept.get(nameOf(text));
        return vector === undefined || vector.every((x) => x === 0) ? null : vector;
      });
    },
    ask(text) {
      let answer = asked.get(text);
      if (answer === undefined) asked.set(text, (answer = embedder.ask(text)));
      return answer;
    },
    close: () => embedder.close(),
  };
}
