import { fstatSync, writeSync } from 'node:fs';

const OUTPUT = 1;

/**
 * From now on what is printed into a file is written whole, or an error of `process.stdout`: a disk that is nearly full
 * takes less than it is given, Node does not look, and the rest would be lost without a word.
 */
export function keepOutputWhole(): void {
  if (fstatSync(OUTPUT).isFile()) Object.assign(process.stdout, { _write: writeAll });
}

function writeAll(piece: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
  try {
    for (let at = 0; at < piece.length;) at += writeSync(OUTPUT, piece, at);
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)));
    return;
  }
  done();
}
