import type { Command } from 'commander';

import { settingsOf } from './settings.ts';

/** `atm-agent-mcp bridge`: the team's mail and a workspace of the hub, reaching each other until a signal comes. */
export function addBridgeCommand(program: Command): void {
  program
    .command('bridge')
    .description("link the team's mail to a workspace of the hub, until it is stopped")
    .option('--team <name>', 'team whose mail this is')
    .option('--set <key=value...>', 'any other setting; see `atm-agent-mcp config`')
    .option('--unlink', 'end the link: those from the hub leave the team, and where it stood is forgotten')
    .addHelpText(
      'after',
      '\nAn agent of the team speaks at the hub as <team>.<agent>; somebody from the hub is hub-<name> in the team.\nWith --json each line is one event: started, waiting, linked, away, back, counts, stopped.\n\nExamples:\n  atm-agent-mcp bridge --team session-1a2b3c4d\n  atm-agent-mcp bridge --team session-1a2b3c4d --unlink',
    )
    .action(async ({ unlink }: { unlink?: boolean }, command: Command) => {
      const loaded = settingsOf(command, ['team']);
      const { linkTeam, unlinkTeam } = await import('./link-team.ts');
      if (unlink === true) await unlinkTeam(loaded);
      else await linkTeam(loaded);
    });
}
