import type { Command } from 'commander';

import { changeKeyFile, revokeToken } from '../auth/key-file.ts';
import { prepareFolder } from '../data-folder.ts';
import { parseDuration } from './duration.ts';
import { print } from './output.ts';
import { settingsOf } from './settings.ts';

interface IssueOptions {
  agent: string;
  workspace?: string;
  role: string;
  session?: string;
  ttl: string;
}

/** `parley token`: tokens made and taken back on the data folder, with the hub running or not. */
export function addTokenCommands(program: Command): void {
  const token = program.command('token').description('issue and revoke tokens');
  token
    .command('issue')
    .description('sign a token for an agent or a person')
    .requiredOption('--agent <id>', 'agent id')
    .option('--workspace <id>', 'workspace id')
    .option('--role <role>', 'operator, orchestrator, worker or observer', 'worker')
    .option('--session <id>', 'session id')
    .option('--ttl <duration>', 'lifetime, such as 12h or 7d', '7d')
    .addHelpText('after', '\nExample:\n  export PARLEY_TOKEN=$(parley token issue --agent alice)')
    .action(async (options: IssueOptions, command: Command) => {
      const { config, json } = settingsOf(command);
      prepareFolder(config.data);
      const { issueToken } = await import('../auth/issue-token.ts');
      const issued = await issueToken(
        config,
        {
          agent_id: options.agent,
          workspace_id: options.workspace ?? config.workspace,
          role: options.role,
          session_id: options.session ?? `${options.agent}-cli`,
          ttl_ms: parseDuration(options.ttl),
        },
        Date.now(),
      );
      print({ json }, issued, () => [issued.token]);
    });
  token
    .command('revoke <jti>')
    .description('refuse a token from the next request on; token issue --json prints its jti')
    .addHelpText('after', '\nExample:\n  parley token revoke tok_1f0c…')
    .action(async (jti: string, _options: unknown, command: Command) => {
      const { config, json } = settingsOf(command);
      prepareFolder(config.data);
      await changeKeyFile(config.data, (file) => revokeToken(file, jti, Date.now()));
      print({ json }, { revoked: jti }, () => [`revoked ${jti}`]);
    });
}
