import type { Readable, Writable } from 'node:stream';

import { fieldsOf } from '@parley/protocol';
import {
  CLIENT_INFO_META_KEY,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type Server,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

import type { Identity, TokenSource } from '../../../auth/token-source.ts';
import type { BodyLimits } from '../../../exchange.ts';
import type { Logger } from '../../../logger.ts';
import { createServerFactory } from '../hub-server.ts';
import type { Profile } from '../tools.ts';
import { claudeSession, codexSession, codexThread, isCodexThread, plainSession } from './host-session.ts';
import { createStdioListens } from './listens.ts';
import { createOwnSession } from './own-session.ts';
import { createRemoteCaller, type RemoteHub } from './remote-caller.ts';
import { StdioWire } from './wire.ts';

export interface StdioOptions {
  input: Readable;
  output: Writable;
  hub: RemoteHub;
  /** What is left open in it is filled in with what is learnt of the client, before the first token is made. */
  identity: Identity;
  tokensOf: (clientName: () => string | undefined) => TokenSource;
  /** What the client handed its server; the keys of its inbox are taken out. */
  env: NodeJS.ProcessEnv;
  limits: BodyLimits;
  profile: Profile;
  version: string;
  /** Only the revisions before the newest. */
  legacy: boolean;
  proofMs: number;
  /** Codex of versions that nobody has tried is reached too. */
  anyVersion: boolean;
  log: Logger;
  /** Ends the connection. */
  signal: AbortSignal;
}

/** MCP on stdin and stdout for one client, with the tools of a hub in another process; resolves when the client has gone. */
export async function serveOnStdio(options: StdioOptions): Promise<void> {
  const { hub, identity, env, log } = options;
  const claude = claudeSession(env);
  identity.session_id ??= claude?.id;
  let clientName: string | undefined;
  const tokens = options.tokensOf(() => clientName);
  const caller = createRemoteCaller(hub, tokens);
  const session = createOwnSession({
    url: () => hub.url(),
    lost: (at) => hub.lost(at),
    token: () => tokens.get(),
    name: () => identity.agent_id ?? clientName ?? 'agent',
    proofMs: options.proofMs,
    onFault: (error) => log.debug({ why: String(error) }, 'session'),
  });
  let isCodex = false;
  let named: string | undefined;
  /** Codex names its thread beside each call; before its first it is looked for. */
  function beginSession(): void {
    // What a call names is told before the first token is made.
    identity.session_id ??= named;
    const plain = claude ?? plainSession(clientName);
    if (plain !== undefined) return session.begin(async () => plain);
    if (!isCodex && named === undefined) return;
    session.begin(async () => {
      const host = await codexSession(env, { named: () => named, anyVersion: options.anyVersion });
      identity.session_id ??= host.id;
      return host;
    });
  }
  const serverFor = createServerFactory({ ...options, deprecations: caller });
  let server: Server | undefined;
  let calls = 0;

  const listens = createStdioListens(caller, async (uri, signal) => {
    await wire.drained(signal);
    await server?.sendResourceUpdated({ uri });
  });
  const wire = new StdioWire({
    input: options.input,
    output: options.output,
    limits: options.limits,
    onArrival(message) {
      clientName ??= nameOfClient(message);
      isCodex ||= isCodexThread(message);
      named = codexThread(message) ?? named;
      if (message.method === 'tools/call') session.used();
      if (message.method !== 'initialize') beginSession();
      if (named !== undefined) session.known(named);
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
  options.signal.addEventListener('abort', () => void wire.close());
  if (options.legacy) await connect().connect(wire);
  else serveStdio(connect, { transport: wire, onerror: (error) => log.debug({ why: error.message }, 'mcp') });
  await wire.closed;
  listens.close();
  await session.close();
}

/** What the client calls itself, in the handshake of the older revisions or beside each request of the newest. */
function nameOfClient({ params }: JSONRPCRequest | JSONRPCNotification): string | undefined {
  const { clientInfo, _meta: meta } = fieldsOf(params);
  const { name } = fieldsOf(clientInfo ?? fieldsOf(meta)[CLIENT_INFO_META_KEY]);
  return typeof name === 'string' ? name : undefined;
}
