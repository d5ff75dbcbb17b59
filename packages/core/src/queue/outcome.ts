import { ENVELOPE_CODE, type EnvelopeCode, ParleyError } from '@parley/protocol';

/** Why a delivery failed, in the words of the envelope. */
export interface Failure {
  code: EnvelopeCode;
  message: string;
}

/** What became of one attempt. */
export type DeliveryOutcome =
  | { is: 'done'; result: Record<string, unknown> }
  | { is: 'retry'; error: Failure; next_attempt_at: string }
  | { is: 'dead'; error: Failure };

/** The codes behind which another attempt may find things otherwise; whatever else failed would fail again. */
const PASSING: readonly EnvelopeCode[] = ['UNAVAILABLE', 'INTERNAL', 'RATE_LIMIT_EXCEEDED'];

/** What was thrown, as it is put on record. */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof ParleyError) return { code: ENVELOPE_CODE[thrown.code], message: thrown.message };
  return { code: 'INTERNAL', message: 'something went wrong inside the hub' };
}

/** True when it is worth another attempt. */
export function isPassing({ code }: Failure): boolean {
  return PASSING.includes(code);
}
