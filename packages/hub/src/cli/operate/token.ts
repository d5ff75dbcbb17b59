import { ParleyError } from '@parley/protocol';
import type { Command } from 'commander';

import { changeKeyFile, revokeToken } from '../../auth/key-file.ts';
import { prepareFolder } from '../../data-folder.ts';
import { withStateFiles } from '../../state-files/with-state-files.ts';
import { parseDuration } from '../duration.ts';
import { print } from '../output.ts';
import { settingsOf } from '../settings.ts';

/** The ids that `token issue` gives. */
const OWN_JTI = /^tok_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

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
    .addHelpText(
      'after',
      '\nThe token is for the program of that agent. Do not export it as PARLEY_TOKEN in your own shell: you would speak\nas the agent there.\n\nExample:\n  parley token issue --agent alice > alice.token',
    )
    .action(async (options: IssueOptions, command: Command) => {
      const { config, json } = settingsOf(command);
      prepareFolder(config.data);
      const { issueToken } = await import('../../auth/issue-token.ts');
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
      if (jti.startsWith('tok_') && !OWN_JTI.test(jti))
        throw new ParleyError(
          'VALIDATION_ERROR',
          `${jti} is no id of a token; parley token issue --json prints it as jti`,
        );
      await withStateFiles(config, (stateFiles) =>
        changeKeyFile(stateFiles, (file) => revokeToken(file, jti, Date.now())),
      );
      print({ json }, { revoked: jti }, () => [
        `a token with the id ${jti} is refused from now on (which tokens were issued is not on record)`,
      ]);
    });
}
