import { spawn } from 'node:child_process';
import { once } from 'node:events';

import type { PtyExit } from '@parley/runtimes';

import { createRefusals } from './commands.ts';
import { openHubLink } from './hub-link.ts';
import type { SuperviseOptions } from './supervise.ts';

/** How long the program may take to end after it was asked to. */
const GRACE_MS = 10_000;

/**
 * Runs a program whose input or output is no terminal: it gets our own descriptors, so that every byte passes as if we
 * were not there. The hub knows of it and cannot type into it.
 */
export async function runBetweenPipes(options: Omit<SuperviseOptions, 'stdin' | 'stdout'>): Promise<PtyExit> {
  const { file, args, env, cwd, program } = options;
  const link = openHubLink({
    ...options.hub,
    metadata: { program, kind: 'closed', supervisor: process.pid },
    commands: createRefusals(program),
    repeatable: [],
    start: Promise.resolve(),
  });
  const child = spawn(file, args, { env, cwd, stdio: 'inherit' });
  const usage =
    child.pid === undefined
      ? undefined
      : options.usage?.({ pid: child.pid, tell: (spent) => link.used(spent) });
  const passOn = (signal: NodeJS.Signals): void => {
    child.kill(signal);
    setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
  };
  // The terminal sends these to both of us, and they are the program's to answer.
  const ignore = (): void => {};
  process.on('SIGINT', ignore).on('SIGQUIT', ignore).on('SIGTERM', passOn).on('SIGHUP', passOn);
  // What Node says of this event.
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  await usage?.close();
  await link.close();
  for (const name of ['SIGINT', 'SIGQUIT'] as const) process.removeListener(name, ignore);
  for (const name of ['SIGTERM', 'SIGHUP'] as const) process.removeListener(name, passOn);
  return { code: code ?? 0, signal };
}
