import { Writable } from 'node:stream';

/** Keeps stdout for a protocol alone: whatever else is written there from now on lands on stderr. */
export function takeStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => void write(text, () => done()),
  });
}
