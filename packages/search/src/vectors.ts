import { DIMENSIONS } from './model-files.ts';

/** A passage and how near it is. */
export interface Near {
  passage: number;
  score: number;
}

/**
 * The vectors of one workspace, each number in one byte, compared one after the other: exact, filtered as one likes,
 * and a quarter of the memory. What comes out near is compared again with the full numbers.
 */
export class VectorArena {
  #bytes = new Int8Array(DIMENSIONS * 256);
  #scales = new Float32Array(256);
  #passages: number[] = [];
  readonly #placeOf = new Map<number, number>();

  get size(): number {
    return this.#passages.length;
  }

  put(passage: number, vector: Float32Array): void {
    let place = this.#placeOf.get(passage);
    if (place === undefined) {
      place = this.#passages.push(passage) - 1;
      this.#placeOf.set(passage, place);
      if (place >= this.#scales.length) this.#grow();
    }
    this.#scales[place] = quantise(vector, this.#bytes, place * DIMENSIONS);
  }

  drop(passage: number): void {
    const place = this.#placeOf.get(passage);
    if (place === undefined) return;
    const end = this.#passages.length - 1;
    const moved = this.#passages[end] ?? passage;
    this.#bytes.copyWithin(place * DIMENSIONS, end * DIMENSIONS, (end + 1) * DIMENSIONS);
    this.#scales[place] = this.#scales[end] ?? 0;
    this.#passages[place] = moved;
    this.#placeOf.set(moved, place);
    this.#passages.pop();
    this.#placeOf.delete(passage);
  }

  /** The nearest passages among those allowed, the nearest first. */
  nearest(vector: Float32Array, count: number, isAllowed?: ReadonlySet<number>): Near[] {
    const asked = new Int8Array(DIMENSIONS);
    quantise(vector, asked, 0);
    const best: Near[] = [];
    let least = -Infinity;
    for (const [place, passage] of this.#passages.entries()) {
      if (isAllowed !== undefined && !isAllowed.has(passage)) continue;
      const score = dot(asked, this.#bytes, place * DIMENSIONS) * (this.#scales[place] ?? 0);
      if (best.length === count && score <= least) continue;
      insert(best, { passage, score }, count);
      least = best.length === count ? (best.at(-1)?.score ?? least) : least;
    }
    return best;
  }

  #grow(): void {
    const bytes = new Int8Array(this.#bytes.length * 2);
    bytes.set(this.#bytes);
    this.#bytes = bytes;
    const scales = new Float32Array(this.#scales.length * 2);
    scales.set(this.#scales);
    this.#scales = scales;
  }
}

function insert(best: Near[], one: Near, count: number): void {
  let low = 0;
  let high = best.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((best[middle]?.score ?? 0) >= one.score) low = middle + 1;
    else high = middle;
  }
  best.splice(low, 0, one);
  if (best.length > count) best.pop();
}

function quantise(vector: Float32Array, into: Int8Array, at: number): number {
  let most = 0;
  for (const x of vector) most = Math.max(most, Math.abs(x));
  const scale = most / 127 || 1;
  for (let d = 0; d < DIMENSIONS; d++) into[at + d] = Math.round((vector[d] ?? 0) / scale);
  return scale;
}

/** Four sums at once: the processor need not wait for one to be ready. */
function dot(a: Int8Array, b: Int8Array, at: number): number {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  for (let d = 0; d < DIMENSIONS; d += 4) {
    s0 += a[d]! * b[at + d]!;
    s1 += a[d + 1]! * b[at + d + 1]!;
    s2 += a[d + 2]! * b[at + d + 2]!;
    s3 += a[d + 3]! * b[at + d + 3]!;
  }
  return s0 + s1 + s2 + s3;
}

/** How near two vectors of length 1 are. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let d = 0; d < DIMENSIONS; d++) sum += a[d]! * b[d]!;
  return sum;
}
