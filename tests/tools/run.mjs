/** Runs one program for the installation of tools; never throws, the answer says how it ended. */
import { spawn } from 'node:child_process';

/** Runs a program to its end, or ends it after `minutes`; its output is kept to the last 60,000 characters. */
export function run(command, args, { env = process.env, cwd, minutes }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (chunk) => (output = (output + chunk).slice(-60_000));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const timer = setTimeout(() => child.kill('SIGKILL'), minutes * 60_000);
    child.on('error', (error) => keep(error.message));
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, output });
    });
  });
}

/** Runs apt-get, which waits for another one that is at work. */
export function aptGet(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return run('/usr/bin/apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], { env, minutes: 10 });
}

/** The end of an output, on one line: most programs say there what went wrong. */
export const lastLines = (text, count) => text.trim().split('\n').slice(-count).join(' ');

/** Tells whoever waits what takes the time. */
export const progress = (text) => process.stderr.write(`test tools: ${text}\n`);
