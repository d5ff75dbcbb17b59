import { mkdirSync } from 'node:fs';

import { ParleyError } from '@parley/protocol';
import type { Command } from 'commander';

import type { LoadedConfig } from '../config/load.ts';
import { RpcError } from '../errors.ts';
import { createLog, writeIfRead } from '../logger.ts';
import { refuseClient } from '../refuse-client.ts';
import { startProxy } from '../start.ts';
import { EXIT } from './output.ts';
import { addSettingOptions, settingsOf } from './settings.ts';

/** `atm-agent-mcp serve`: the MCP server on stdin and stdout, until its client goes or a signal comes. */
export function addServeCommand(program: Command): void {
  addSettingOptions(program.command('serve'))
    .description('serve MCP on stdin and stdout')
    .option('--resume [agent-id]', 'take up the newest session of this identity, or the one named')
    .addHelpText(
      'after',
      '\nExample:\n  claude mcp add codex-team -- atm-agent-mcp serve --identity arch --role review',
    )
    .action(async ({ resume }: { resume?: string | true }, command: Command) => {
      const config = settingsOf(command);
      checkRole(config);
      const log = createLog(config.settings.log_level, writeIfRead(process.stderr), () => new Date());
      for (const { key, file } of config.ignored)
        log('warn', 'a setting of an untrusted repository was ignored', { key, file });
      for (const name of config.unknown) log('warn', 'a setting is unknown', { name });
      mkdirSync(config.places.atm, { recursive: true, mode: 0o700 });
      const { stdin: input, stdout: output } = process;
      const { env } = process;
      const own = { command: process.execPath, args: [...process.execArgv, process.argv[1] ?? ''] };
      const starting = startProxy({
        config,
        env,
        cwd: process.cwd(),
        input,
        output,
        log,
        resume,
        program: own,
      });
      const proxy = await starting.catch(async (error: unknown) => {
        if (!(error instanceof RpcError)) throw error;
        log('error', error.message, error.data);
        // A client hears why in its own words; a person at a terminal from the exit.
        if (await refuseClient(error, input, output)) process.exit(EXIT.failure);
        throw error;
      });
      const end = (reason: string): void => {
        log('info', 'stopping', { reason });
        void proxy.stop().then(
          () => process.exit(EXIT.ok),
          (error: unknown) => {
            log('error', 'stopping failed', { error: String(error) });
            process.exit(EXIT.failure);
          },
        );
      };
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => end(signal));
      input.on('end', () => end('the client closed its side'));
      input.on('error', () => end('the input failed'));
      output.on('error', () => end('the client is gone'));
    });
}

/** A role that is not there would refuse every session: that is told now. */
function checkRole({ settings: { role }, roles, ignored }: LoadedConfig): void {
  if (role === null || roles.has(role)) return;
  const why = ignored.some(({ key }) => key === `roles.${role}`)
    ? 'its repository is not trusted to have it'
    : `there are: ${[...roles.keys()].join(', ') || 'none'}`;
  throw new ParleyError('VALIDATION_ERROR', `there is no role '${role}'; ${why}`);
}
