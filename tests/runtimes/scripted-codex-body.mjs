/** Hands every byte of stdin to the test, and does on stdout, stderr and as a process what the test says. */
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

const test = connect(Number(process.env.SCRIPTED_PORT), '127.0.0.1');
test.on('error', () => {});
test.write(`${JSON.stringify({ hello: process.argv[2], pid: process.pid })}\n`);
createInterface({ input: process.stdin }).on('line', (line) => test.write(`${JSON.stringify({ line })}\n`));
const actions = {
  out: (base64) => process.stdout.write(Buffer.from(base64, 'base64')),
  err: (text) => process.stderr.write(text),
  flood: (bytes) => process.stderr.write('x'.repeat(bytes)),
  exit: (code) => process.exit(code),
  deafen: () => process.stdin.pause(),
  cling() {
    process.on('SIGTERM', () => {});
    setInterval(() => {}, 1_000);
  },
};
createInterface({ input: test }).on('line', (line) => {
  for (const [name, value] of Object.entries(JSON.parse(line))) actions[name](value);
});
// The socket alone does not keep it alive after the end of its input.
process.stdin.on('end', () => test.unref());
