import { resolve } from 'node:path';

import { Argument, type Command } from 'commander';

import type { Runtime } from '../verify/place.ts';
import type { DoorReport } from '../verify/verify-runtime.ts';
import { EXIT, print, tell } from './output.ts';
import { table } from './table.ts';

const RUNTIMES: readonly Runtime[] = ['codex', 'claude', 'opencode'];

/** `parley verify-runtime`: which doors truly work with the installed version of an agent's program. */
export function addVerifyRuntimeCommand(program: Command): void {
  program
    .command('verify-runtime')
    .addArgument(new Argument('<runtime>', 'whose doors are tried').choices(RUNTIMES))
    .description(
      'try every door into the installed Codex, Claude Code or opencode, on a scripted model of this machine',
    )
    .option('--bin <program>', 'the program, where it is not the one on the PATH')
    .addHelpText(
      'after',
      '\nIt works in a home of its own with a hub of its own: no model is paid, nothing of yours is read or changed.\nEnds with 1 when a door that the hub opens for this version does not work.\n\nExample:\n  parley verify-runtime codex --json',
    )
    .action(async (runtime: Runtime, { bin = runtime }: { bin?: string }, command: Command) => {
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      const { verifyRuntime } = await import('../verify/verify-runtime.ts');
      const report = await verifyRuntime({
        runtime,
        bin,
        path: process.env['PATH'] ?? '',
        self: [process.execPath, resolve(process.argv[1] ?? 'parley')],
        onDoor: ({ door, works }) =>
          json === true ? undefined : tell(`${door}: ${works ? 'works' : 'does not work'}`),
      });
      print({ json }, report, () => [
        `${runtime} ${report.version ?? 'of unknown version'} at ${report.path}`,
        ...table([['door', 'state', 'the hub', 'detail'], ...report.doors.map(row)]),
      ]);
      if (report.doors.some(({ works, gate }) => gate === 'open' && !works)) process.exitCode = EXIT.failure;
    });
}

function row({ door, works, gate, proof, ms, reason }: DoorReport): string[] {
  const detail = works ? `shown by ${proof ?? 'the model'} after ${ms ?? 0} ms` : (reason ?? '');
  return [door, works ? 'works' : 'fails', gate === 'open' ? 'opens it' : 'keeps it shut', detail];
}
