import { keepOutputWhole } from '@parley/files';
import { errorCode } from '@parley/protocol';

import { EXIT, tell } from './output.ts';

/** Ends quietly when the reader of our output has gone, as `| head` does, and with an error when a file cannot take all of it. */
export function guardOutput(): void {
  keepOutputWhole();
  process.stdout.on('error', (error) => {
    if (errorCode(error) === 'EPIPE') process.exit(EXIT.ok);
    tell(`parley: the output is not whole: ${whyNot(error)}`);
    process.exit(EXIT.failure);
  });
  process.stderr.on('error', (error) => {
    // Words beside the data are not worth ending for.
    if (errorCode(error) === 'EPIPE') process.exit(EXIT.ok);
  });
}

/** For a program that serves: it goes on although nobody can read what it says of itself. */
export function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.removeAllListeners('error').on('error', () => {});
}

function whyNot(error: Error): string {
  return errorCode(error) === 'ENOSPC' ? 'the disk is full' : error.message;
}
