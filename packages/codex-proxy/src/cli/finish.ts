import { text } from 'node:stream/consumers';

import { ParleyError } from '@parley/protocol';
import type { Command } from 'commander';

import { boundsOf, type FinishJob, finishSessions } from '../finisher/finish-sessions.ts';
import { EXIT } from './output.ts';

/** What `serve` starts when it ends, for whatever it may have no time for. */
export function addFinishCommand(program: Command): void {
  program
    .command('finish', { hidden: true })
    .description('finish the sessions of a proxy that has ended; started by serve, never by hand')
    .action(async () => {
      const job = jobOf(await text(process.stdin));
      // Whatever hangs, this process does not stay.
      const { totalMs } = boundsOf(job.settings.summary_timeout_secs);
      setTimeout(() => process.exit(EXIT.failure), totalMs);
      await finishSessions(job, process.env, () => {});
      process.exit(EXIT.ok);
    });
}

function jobOf(given: string): FinishJob {
  try {
    // The proxy that ends starts this program with just this.
    const job = JSON.parse(given) as FinishJob;
    if (typeof job.settings.summary_timeout_secs === 'number') return job;
  } catch {
    // Said below.
  }
  throw new ParleyError('VALIDATION_ERROR', 'finish is started by serve, which gives it its job');
}
