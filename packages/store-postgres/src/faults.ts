import { ParleyError, errorCode } from '@parley/protocol';
import { DatabaseError } from 'pg';

/** PostgreSQL ended the transaction for another's sake, or itself; nothing of it was written. */
const AGAIN = new Set([
  '40001',
  '40P01',
  '55P03',
  '57P01',
  '57P02',
  '57P03',
  '57014',
  '25P03',
  '25006',
  '53300',
  '53400',
]);
const CUT = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  '08000',
  '08003',
  '08006',
]);

/** The code of an error of the server or of the way to it. */
export function codeOf(error: unknown): string {
  const code = errorCode(error);
  return typeof code === 'string' ? code : '';
}

/** True where the same may work a moment later, by itself. */
function isPassing(error: unknown): boolean {
  return AGAIN.has(codeOf(error)) || CUT.has(codeOf(error)) || isCut(error);
}

/** True where it failed at once: what took its whole time is not tried for as long again. */
export function isBrief(error: unknown): boolean {
  return isPassing(error) && !(error instanceof Error && /timeout/i.test(error.message));
}

/** The client says so in words alone. */
function isCut(error: unknown): boolean {
  return error instanceof Error && /Connection terminated|connection error|timeout/i.test(error.message);
}

/** True for what the server itself has said of a statement, as against a way that broke. */
export function isServers(error: unknown): boolean {
  return error instanceof DatabaseError;
}

/** The answer to a write that came to nothing. */
export function refusal(error: unknown): ParleyError {
  return new ParleyError(
    'UNAVAILABLE',
    `the database did not take it (${textOf(error)}); nothing was written`,
    {
      retry_after_ms: 1_000,
    },
  );
}

/** The answer to a write of which nobody knows whether it came to be. */
export function unknown(error: unknown): ParleyError {
  return new ParleyError(
    'UNAVAILABLE',
    `the database did not say whether it was written (${textOf(error)}); retry with the same idempotency_key`,
    { retry_after_ms: 1_000, unknown: true },
  );
}

/** The answer to a question that came to nothing; what is no fault of the way or of the moment stays what it is. */
export function unanswered(error: unknown): unknown {
  if (error instanceof ParleyError || !isPassing(error)) return error;
  return new ParleyError('UNAVAILABLE', `the database does not answer (${textOf(error)}); retry`, {
    retry_after_ms: 1_000,
  });
}

/** What went wrong in a few words, without the address that may hold a password. */
export function textOf(error: unknown): string {
  const code = codeOf(error);
  if (error instanceof ParleyError || (error instanceof Error && error.name === 'error'))
    return error.message;
  return code === '' ? String(error instanceof Error ? error.message : error) : code;
}
