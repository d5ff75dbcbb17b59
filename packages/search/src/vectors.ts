import { createScanner } from './scan-module.ts';

/** A passage and how near it is. */
export interface Near<K = number> {
  passage: K;
  score: number;
}

/** So many are compared before the best of them are picked. */
const BLOCK = 4_096;
const PAGE = 65_536;

/**
 * The vectors of one workspace, one or more for each passage, each number in one byte, compared one after the other: exact, filtered as one likes,
 * and a quarter of the memory. What comes out near is compared again with the full numbers.
 */
export class VectorArena {
  readonly #scanner = createScanner();
  readonly #dimensions: number;
  /** What one vector takes: whole steps of the scanner. */
  readonly #stride: number;
  /** In the scanner's memory come the asked vector, the scores of a block, the vectors. */
  readonly #first: number;
  #bytes = new Int8Array();
  #scales = new Float32Array(256);
  #passages: number[] = [];
  readonly #placesOf = new Map<number, number[]>();

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#stride = Math.ceil(dimensions / 16) * 16;
    this.#first = this.#stride + BLOCK * 4;
    this.#reserve();
  }

  get size(): number {
    return this.#passages.length;
  }

  put(passage: number, vectors: readonly Float32Array[]): void {
    this.drop(passage);
    const places = vectors.map((vector) => {
      const place = this.#passages.push(passage) - 1;
      if (place >= this.#scales.length) this.#grow();
      this.#scales[place] = quantise(vector, this.#bytes, this.#at(place), this.#dimensions);
      return place;
    });
    this.#placesOf.set(passage, places);
  }

  drop(passage: number): void {
    // From the last on, so that none of its own is moved into a hole.
    for (const place of this.#placesOf.get(passage)?.toSorted((a, b) => b - a) ?? []) this.#vacate(place);
    this.#placesOf.delete(passage);
  }

  /** The vector at the end comes to stand here. */
  #vacate(place: number): void {
    const end = this.#passages.length - 1;
    const moved = this.#passages[end] ?? 0;
    this.#bytes.copyWithin(this.#at(place), this.#at(end), this.#at(end + 1));
    this.#scales[place] = this.#scales[end] ?? 0;
    this.#passages[place] = moved;
    this.#passages.pop();
    const places = this.#placesOf.get(moved) ?? [];
    if (place !== end) places[places.indexOf(end)] = place;
  }

  /** The nearest vectors of passages that are allowed, the nearest first; a passage may be there by several. */
  nearest(vector: Float32Array, count: number, isAllowed?: ReadonlySet<number>): Near[] {
    quantise(vector, this.#bytes, 0, this.#dimensions);
    const scores = new Int32Array(this.#bytes.buffer, this.#stride, BLOCK);
    const best: Near[] = [];
    let least = -Infinity;
    for (let from = 0; from < this.size; from += BLOCK) {
      const many = Math.min(BLOCK, this.size - from);
      this.#scanner.scan(this.#at(from), many, this.#stride, this.#stride);
      for (let i = 0; i < many; i++) {
        const score = scores[i]! * this.#scales[from + i]!;
        if (score <= least) continue;
        const passage = this.#passages[from + i]!;
        if (isAllowed !== undefined && !isAllowed.has(passage)) continue;
        insert(best, { passage, score }, count);
        least = best.length === count ? (best.at(-1)?.score ?? least) : least;
      }
    }
    return best;
  }

  #at(place: number): number {
    return this.#first + place * this.#stride;
  }

  #grow(): void {
    const scales = new Float32Array(this.#scales.length * 2);
    scales.set(this.#scales);
    this.#scales = scales;
    this.#reserve();
  }

  /** As much memory as the scales have places; what stands in it stays. */
  #reserve(): void {
    const { memory } = this.#scanner;
    const lacking = this.#at(this.#scales.length) - memory.buffer.byteLength;
    if (lacking > 0) memory.grow(Math.ceil(lacking / PAGE));
    this.#bytes = new Int8Array(memory.buffer);
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

function quantise(vector: Float32Array, into: Int8Array, at: number, dimensions: number): number {
  let most = 0;
  for (const x of vector) most = Math.max(most, Math.abs(x));
  const scale = most / 127 || 1;
  for (let d = 0; d < dimensions; d++) into[at + d] = Math.round((vector[d] ?? 0) / scale);
  return scale;
}

/** How near two vectors of length 1 are. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let d = 0; d < a.length; d++) sum += a[d]! * b[d]!;
  return sum;
}
