import { logJson, ParleyError, redact, fieldsOf } from '@parley/protocol';

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

/** Ends quietly when the reader of our output has gone, as `| head` does. */
export function handleBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return;
      throw error;
    });
  }
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
