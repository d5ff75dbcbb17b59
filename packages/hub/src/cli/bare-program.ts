import { Command, Help } from 'commander';

import { VERSION } from '../version.ts';

/** The options of every command, without the commands. */
export function createBareProgram(): Command {
  return new Command('parley')
    .description(
      'The record that coding agents talk through, and the dashboard from which a person steers them.',
    )
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError('(see parley --help)')
    .configureOutput({ getOutHelpWidth: columns, getErrHelpWidth: columns })
    .configureHelp({
      showGlobalOptions: true,
      formatHelp(command, helper) {
        // A command's own options come before those that it shares with others.
        const isShared = (group: string | undefined): number => (group === undefined ? 0 : 1);
        const options = command.options.toSorted(
          (a, b) => isShared(a.helpGroupHeading) - isShared(b.helpGroupHeading),
        );
        return new Help().formatHelp.call(helper, Object.assign(command, { options }), helper);
      },
    })
    .option('--data <folder>', 'folder that holds all state')
    .option('--store <url>', 'PostgreSQL that holds the record: postgres://…; else the folder does')
    .option('--config <file>', 'configuration file (TOML)')
    .option('--json', 'print data as JSON')
    .option('--no-color', 'print without colour; so does NO_COLOR')
    .addHelpText(
      'after',
      '\nWithout a command it shows this, and what runs. Exit codes: parley help exit-codes',
    );
}

/** A terminal that knows no width of its own has 80 columns. */
function columns(): number {
  const { isTTY, columns: width } = process.stdout;
  return isTTY && width > 0 ? width : 80;
}
