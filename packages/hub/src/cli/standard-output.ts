import { errorCode } from '@parley/protocol';
import { fstatSync, writeSync } from 'node:fs';

import { EXIT, tell } from './output.ts';

const DATA = 1;

/** Ends quietly when the reader of our output has gone, as `| head` does, and with an error when a file cannot take all of it. */
export function guardOutput(): void {
  if (fstatSync(DATA).isFile()) Object.assign(process.stdout, { _write: writeAll });
  process.stdout.on('error', (error) => {
    if (errorCode(error) === 'EPIPE') process.exit(EXIT.ok);
    tell(`parley: the output is not whole: ${whyNot(error)}`);
    process.exit(EXIT.failure);
  });
  process.stderr.on('error', (error) => {
    if (errorCode(error) === 'EPIPE') process.exit(EXIT.ok);
    // Words beside the data are not worth ending for.
  });
}

/** For a program that serves: it goes on although nobody can read what it says of itself. */
export function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.removeAllListeners('error').on('error', () => {});
}

/** A disk that is nearly full takes less than it is given; Node does not look, and the rest would be lost without a word. */
function writeAll(piece: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
  try {
    for (let at = 0; at < piece.length;) at += writeSync(DATA, piece, at);
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)));
    return;
  }
  done();
}

function whyNot(error: Error): string {
  return errorCode(error) === 'ENOSPC' ? 'the disk is full' : error.message;
}
