import { resolve } from 'node:path';

import { table } from '@parley/protocol';
import { Argument, type Command } from 'commander';

import type { Runtime } from '../../verify/trial-home.ts';
import type { RowReport } from '../../verify/rows.ts';
import type { DoorReport } from '../../verify/verify-runtime.ts';
import { EXIT, print, tell } from '../output.ts';

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
      '\nIt works in a home of its own with a hub of its own: no model is paid, nothing of yours is read or changed.\nEnds with 1 when a door that the hub opens for this version does not work, or a call does not reach it after parley init alone.\n\nExample:\n  parley verify-runtime codex --json',
    )
    .action(async (runtime: Runtime, { bin = runtime }: { bin?: string }, command: Command) => {
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      const reported = (what: string, works: boolean): void =>
        json === true ? undefined : tell(`${what}: ${works ? 'works' : 'does not work'}`);
      const { verifyRuntime } = await import('../../verify/verify-runtime.ts');
      const report = await verifyRuntime({
        runtime,
        bin,
        path: process.env['PATH'] ?? '',
        self: [process.execPath, resolve(process.argv[1] ?? 'parley')],
        onDoor: ({ door, works }) => reported(door, works),
        onRow: ({ row: call, works }) => reported(call, works),
      });
      print({ json }, report, () => [
        `${runtime} ${report.version ?? 'of unknown version'} at ${report.path}`,
        ...table([['door', 'state', 'the hub', 'detail'], ...report.doors.map(row)]),
        ...(report.rows.length === 0
          ? []
          : [
              '',
              'after parley init alone:',
              ...table([['call', 'state', 'detail'], ...report.rows.map(callRow)]),
            ]),
      ]);
      const isBroken =
        report.doors.some(({ works, gate }) => gate === 'open' && !works) ||
        report.rows.some(({ works }) => !works);
      if (isBroken) process.exitCode = EXIT.failure;
    });
}

function callRow({ row: call, works, ms, reason }: RowReport): string[] {
  return [
    call,
    works ? 'reached' : 'never',
    works ? `seen by the model after ${ms ?? 0} ms` : (reason ?? ''),
  ];
}

function row({ door, works, gate, proof, ms, reason }: DoorReport): string[] {
  const detail = works ? `shown by ${proof ?? 'the model'} after ${ms ?? 0} ms` : (reason ?? '');
  return [door, works ? 'works' : 'fails', gate === 'open' ? 'opens it' : 'keeps it shut', detail];
}
