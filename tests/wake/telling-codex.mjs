#!/usr/bin/env node
/** A stand-in for `codex exec` that writes down how it was started, in its folder, and says what Codex would say. */
import { appendFileSync, readFileSync } from 'node:fs';

const args = process.argv.slice(2);
if (args[0] === '--version') {
  process.stdout.write(`codex-cli ${process.env['TELLING_VERSION'] ?? '0.166.0'}\n`);
  process.exit(0);
}
const prompt = readFileSync(0, 'utf8');
const environ = readFileSync('/proc/self/environ', 'utf8');
const cmdline = readFileSync('/proc/self/cmdline', 'utf8');
appendFileSync('started.jsonl', `${JSON.stringify({ args, prompt, environ, cmdline })}\n`);
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const thread_id = args[1] === 'resume' ? args.at(-2) : '019a0000-0000-7000-8000-00000000beef';
say({ type: 'thread.started', thread_id });
say({ type: 'turn.started' });
say({ type: 'turn.completed', usage: {} });
