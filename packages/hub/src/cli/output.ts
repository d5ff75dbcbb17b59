import { once } from 'node:events';

import {
  type ErrorCode,
  hideSecrets,
  hideSecretsIn,
  ParleyError,
  showUnseen,
  fieldsOf,
} from '@parley/protocol';

import { systemWords } from '../system-words.ts';
import { harmlessJson, harmlessLines } from './harmless.ts';

/** Exit codes, as gh has them and a few more; `parley help exit-codes` prints them. */
export const EXIT = { ok: 0, failure: 1, usage: 2, notFound: 3, auth: 4, unreachable: 5, denied: 6 } as const;

/** Prints data: one JSON document with --json, else the lines made for people. */
export function print(options: { json?: boolean | undefined }, data: unknown, lines: () => string[]): void {
  printLines(options.json === true ? [harmlessJson(data)] : lines());
}

/** Prints lines as they come; what others wrote in them must have been made harmless. */
export function printLines(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

/** Hands on what others wrote: to a pipe as it is, to a terminal with nothing in it that acts or hides. */
export async function pour(
  pieces: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const { stdout } = process;
  const decoder = new TextDecoder();
  const shown = (piece: string | Uint8Array): string =>
    showUnseen(typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true }));
  for await (const piece of pieces)
    if (!stdout.write(stdout.isTTY ? shown(piece) : piece)) await once(stdout, 'drain');
}

/** Says something to the person, beside the data. */
export function tell(text: string): void {
  process.stderr.write(`${harmlessLines(text).join('\n')}\n`);
}

const EXIT_BY_CODE: Partial<Record<ErrorCode, number>> = {
  VALIDATION_ERROR: EXIT.usage,
  NOT_FOUND: EXIT.notFound,
  UNAUTHORIZED: EXIT.auth,
  FORBIDDEN: EXIT.denied,
  INSUFFICIENT_AUTHORITY: EXIT.denied,
  OUT_OF_SCOPE_WORKSPACE: EXIT.denied,
  CLAIM_MISMATCH: EXIT.denied,
};

/** Prints an error in the way the caller reads and ends with its exit code. */
export function fail(error: unknown, json: boolean): never {
  const code = error instanceof ParleyError ? error.code : 'INTERNAL';
  const message = hideSecrets(systemWords(error));
  const { request_id, details } = fieldsOf(error);
  if (json)
    printLines([harmlessJson({ error: { code, message, request_id, details: hideSecretsIn(details) } })]);
  else tell(`parley: ${message}${typeof request_id === 'string' ? ` (${request_id})` : ''}`);
  process.exit(isUnreachable(error) ? EXIT.unreachable : (EXIT_BY_CODE[code] ?? EXIT.failure));
}

function isUnreachable(error: unknown): boolean {
  if (error instanceof UnreachableError) return true;
  if (error instanceof ParleyError && error.details?.['reason'] === 'unreachable') return true;
  return error instanceof ParleyError && error.name === 'ClientError' && !('status' in error && error.status);
}

/** No hub answers where one was expected. */
export class UnreachableError extends ParleyError {
  constructor(message: string) {
    super('UNAVAILABLE', message);
  }
}
