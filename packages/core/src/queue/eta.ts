/** Tells by when deliveries will be done, from how long the last ones took. */
export interface Eta {
  /** One was carried out, or failed. */
  took(ms: number): void;
  /** Milliseconds until one is done with so many in line before it. */
  after(waiting: number): number;
}

/** What is expected before the first was carried out. */
const FIRST_MS = 500;
/** How much the newest counts. */
const WEIGHT = 0.2;
const LEAST_MS = 1_000;

export function createEta(concurrent: number): Eta {
  let typical = FIRST_MS;
  return {
    took(ms) {
      typical += WEIGHT * (ms - typical);
    },
    after: (waiting) => Math.ceil(Math.max(LEAST_MS, Math.ceil((waiting + 1) / concurrent) * typical)),
  };
}
