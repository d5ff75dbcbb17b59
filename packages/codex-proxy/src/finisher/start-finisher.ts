import { spawn } from 'node:child_process';

import type { LoadedConfig } from '../config/load.ts';
import type { Log } from '../logger.ts';
import type { FinishJob } from './finish-sessions.ts';

/** How this program is started again. */
export interface OwnProgram {
  command: string;
  args: readonly string[];
}

/** The process that waits for our end. */
export interface Finisher {
  /** All is done: there is nothing left for it. */
  callOff(): void;
}

/**
 * Starts a process that outlives this one and does what it left undone: clients give a server half a second to end,
 * and a summary takes a model longer. It has a session and standard streams of its own, and learns its job from its
 * input, so that nothing of it stands in a list of processes.
 */
export function startFinisher(
  program: OwnProgram,
  config: LoadedConfig,
  env: NodeJS.ProcessEnv,
  log: Log,
): Finisher {
  const job: FinishJob = {
    settings: config.settings,
    paths: config.paths,
    places: config.places,
  };
  const child = spawn(program.command, [...program.args, 'finish'], {
    cwd: config.places.home,
    env,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', (error) =>
    log('warn', 'nobody will finish what is left undone', { reason: error.message }),
  );
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(job));
  child.unref();
  return { callOff: () => void child.kill() };
}
