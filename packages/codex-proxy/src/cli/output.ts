import { keepOutputWhole } from '@parley/files';
import { errorCode, logJson, ParleyError, redact, fieldsOf } from '@parley/protocol';

import { RpcError } from '../errors.ts';

/** Exit codes, as the hub's command line has them. */
export const EXIT = { ok: 0, failure: 1, usage: 2, notFound: 3 } as const;

/** Prints data: one JSON document with --json, else the lines made for people. */
export function print(json: boolean | undefined, data: unknown, lines: () => string[]): void {
  const printed = json === true ? [logJson(data)] : lines().map(redact);
  process.stdout.write(printed.map((line) => `${line}\n`).join(''));
}

/** Says something to the person, beside the data. */
function tell(text: string): void {
  process.stderr.write(`${redact(text)}\n`);
}

/** Goes on when the reader of our output has gone, as `| head` does, and ends with an error when a file cannot take all of it. */
export function guardOutput(): void {
  keepOutputWhole();
  process.stdout.on('error', (error) => {
    if (errorCode(error) === 'EPIPE') return;
    tell(`atm-agent-mcp: the output is not whole: ${error.message}`);
    process.exit(EXIT.failure);
  });
  // A log that cannot be written is not worth the sessions.
  process.stderr.on('error', () => {});
}

/** Prints an error in the way the caller reads and ends with its exit code. */
export function fail(error: unknown, json: boolean): never {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const details = error instanceof ParleyError ? error.details : fieldsOf(error)['data'];
  if (json) print(true, { error: { code, message, details } }, () => []);
  else tell(`atm-agent-mcp: ${message}`);
  if (code === 'VALIDATION_ERROR') process.exit(EXIT.usage);
  process.exit(code === 'NOT_FOUND' ? EXIT.notFound : EXIT.failure);
}

function codeOf(error: unknown): string {
  if (error instanceof ParleyError) return error.code;
  return error instanceof RpcError ? String(error.data?.['error_name']) : 'INTERNAL';
}
