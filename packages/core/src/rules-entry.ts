/** What a store needs to run the rules inside its own transaction. */
export { fingerprint } from './fingerprint.ts';
export { type IdempotencyRecord, replay } from './idempotency.ts';
export { decide, needs, takeTurn } from './rules.ts';
