import type { Writable } from 'node:stream';

import {
  CLIENT_INFO_META_KEY,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type Server,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { checkAddress, ParleyError } from '@parley/protocol';
import type { Command } from 'commander';

import { createServerFactory } from '../faces/mcp/hub-server.ts';
import { createLogger } from '../logger.ts';
import { VERSION } from '../version.ts';

import type { McpOptions } from './mcp.ts';
import { hubAt, hubOfFolder } from './nearby-hub.ts';
import { EXIT } from './output.ts';
import { claudeSession, codexSession, createOwnSession, plainSession } from './own-session.ts';
import { givenToken, ownTokens } from './own-token.ts';
import { createRemoteCaller } from './remote-caller.ts';
import { settingsOf } from './settings.ts';
import { createStdioListens } from './stdio-listens.ts';
import { StdioWire } from './stdio-wire.ts';

/** Runs until the client goes; loaded only where it is wanted, as the protocol is most of what it needs. */
export async function serveMcp(options: McpOptions, command: Command, output: Writable): Promise<void> {
  const { env } = process;
  const { config, origins } = settingsOf(command, { workspace: options.workspace });
  const { log, end } = createLogger(origins.get('log.level') === 'default' ? 'warn' : config.log.level);
  const claude = claudeSession(env);
  const given = givenToken(env['PARLEY_TOKEN'], options.tokenFile ?? env['PARLEY_TOKEN_FILE']);
  const url = env['PARLEY_URL'];
  if (url !== undefined && given === undefined)
    throw new ParleyError('UNAUTHORIZED', 'PARLEY_URL needs a token: set PARLEY_TOKEN or --token-file');
  if (url !== undefined) checkAddress(url);
  const hub = url === undefined ? hubOfFolder(config, log) : hubAt(url);
  let clientName: string | undefined;
  const identity = {
    agent_id: options.agent ?? env['PARLEY_AGENT'] ?? options.usualAgent,
    workspace_id: config.workspace,
    role: options.role ?? env['PARLEY_ROLE'] ?? 'worker',
    session_id: options.session ?? env['PARLEY_SESSION'] ?? claude?.id,
  };
  const tokens = given ?? ownTokens(config, identity, () => clientName);
  const caller = createRemoteCaller(hub, tokens);
  const session = createOwnSession({
    url: () => hub.url(),
    lost: (at) => hub.lost(at),
    token: () => tokens.get(),
    name: () => identity.agent_id ?? clientName ?? 'agent',
    proofMs: config.wake.proof_ms,
    onFault: (error) => log.debug({ why: String(error) }, 'session'),
  });
  const serverFor = createServerFactory({ profile: config.mcp.profile, version: VERSION });
  let server: Server | undefined;
  let calls = 0;

  const listens = createStdioListens(caller, async (uri, signal) => {
    await wire.drained(signal);
    await server?.sendResourceUpdated({ uri });
  });
  const wire = new StdioWire({
    input: process.stdin,
    output,
    limits: {
      bytes: config.limits.request_bytes,
      depth: config.limits.json_depth,
      items: config.limits.json_items,
    },
    onArrival(message) {
      clientName ??= nameOfClient(message);
      const host = claude ?? codexSession(message) ?? plainSession(clientName);
      // Codex tells its thread before the first token is made.
      identity.session_id ??= host?.id;
      if (message.method === 'tools/call') session.used();
      if (message.method !== 'initialize') session.begin(host);
      return listens.pass(message);
    },
  });
  const connect = (): Server => {
    server = serverFor({
      hub: () => ({
        ...caller,
        async call(...args) {
          const answer = await caller.call(...args);
          await session.shown();
          return answer;
        },
      }),
      requestId: () => `stdio_${process.pid}_${++calls}`,
      pushable: (signal) => wire.drained(signal),
    });
    return server;
  };

  // The first call then finds the hub already there.
  hub.url().catch((error: unknown) => log.warn({ why: String(error) }, 'no hub yet'));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => void wire.close());
  if (options.legacy === true) await connect().connect(wire);
  else serveStdio(connect, { transport: wire, onerror: (error) => log.debug({ why: error.message }, 'mcp') });
  await wire.closed;
  listens.close();
  await session.close();
  await hub.close();
  await end(EXIT.ok);
}

/** What the client calls itself, in the handshake of the older revisions or beside each request of the newest. */
function nameOfClient({ params }: JSONRPCRequest | JSONRPCNotification): string | undefined {
  const { clientInfo, _meta: meta } = (params ?? {}) as Record<string, Record<string, unknown> | undefined>;
  const info = clientInfo ?? (meta?.[CLIENT_INFO_META_KEY] as Record<string, unknown> | undefined);
  return typeof info?.['name'] === 'string' ? info['name'] : undefined;
}
