import type { Writable } from 'node:stream';

import { checkAddress, ParleyError } from '@parley/protocol';
import type { Command } from 'commander';

import { ownTokens } from '../../auth/own-tokens.ts';
import { givenToken } from '../../auth/token-source.ts';
import { serveOnStdio } from '../../faces/mcp/stdio/serve-stdio.ts';
import { createLogger } from '../../logger.ts';
import { usagePlace } from '../../usage/usage-place.ts';
import { openUsageReporter } from '../../usage/usage-reporter.ts';
import { VERSION } from '../../version.ts';
import { EXIT } from '../output.ts';
import { settingsOf } from '../settings.ts';
import type { McpOptions } from './mcp.ts';
import { hubAt, hubOfFolder } from './nearby-hub.ts';

/** Runs until the client goes; loaded only where it is wanted, as the protocol is most of what it needs. */
export async function serveMcp(options: McpOptions, command: Command, output: Writable): Promise<void> {
  const { env } = process;
  const { config, origins } = settingsOf(command, { workspace: options.workspace });
  const { log, end } = createLogger(origins.get('log.level') === 'default' ? 'warn' : config.log.level);
  const given = givenToken(env['PARLEY_TOKEN'], options.tokenFile ?? env['PARLEY_TOKEN_FILE']);
  const url = env['PARLEY_URL'];
  if (url !== undefined && given === undefined)
    throw new ParleyError('UNAUTHORIZED', 'PARLEY_URL needs a token: set PARLEY_TOKEN or --token-file');
  if (url !== undefined) checkAddress(url);
  const hub = url === undefined ? hubOfFolder(config, log) : hubAt(url);
  const identity = {
    agent_id: options.agent ?? env['PARLEY_AGENT'] ?? options.usualAgent,
    workspace_id: config.workspace,
    role: options.role ?? env['PARLEY_ROLE'] ?? 'worker',
    session_id: options.session ?? env['PARLEY_SESSION'],
  };
  const ending = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => ending.abort());
  const noteFault = (error: unknown): void => log.debug({ why: String(error) }, 'usage');
  await serveOnStdio({
    input: process.stdin,
    output,
    hub,
    identity,
    tokensOf: (clientName) => given ?? ownTokens(config, identity, clientName),
    env,
    limits: {
      bytes: config.limits.request_bytes,
      depth: config.limits.json_depth,
      items: config.limits.json_items,
    },
    profile: config.mcp.profile,
    version: VERSION,
    legacy: options.legacy === true,
    proofMs: config.wake.proof_ms,
    anyVersion: config.wake.any_version,
    ...(config.usage.own_terminals && {
      reportUsage: (beside) => openUsageReporter({ ...usagePlace(config), ...beside, onFault: noteFault }),
    }),
    log,
    signal: ending.signal,
  });
  await hub.close();
  await end(EXIT.ok);
}
