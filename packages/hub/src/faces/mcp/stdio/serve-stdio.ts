import type { Readable, Writable } from 'node:stream';

import { fieldsOf } from '@parley/protocol';
import {
  CLIENT_INFO_META_KEY,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type Server,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

import { agentOf } from '../../../auth/agent-of.ts';
import type { Identity, TokenSource } from '../../../auth/token-source.ts';
import type { BodyLimits } from '../../../exchange.ts';
import type { Logger } from '../../../logger.ts';
import { createServerFactory } from '../hub-server.ts';
import type { Profile } from '../tools.ts';
import { isManaged } from '../../../supervised.ts';
import type { UsageReporter, UsageReporterDeps } from '../../../usage/usage-reporter.ts';
import {
  claudeSession,
  codexSession,
  codexThread,
  type HostSession,
  isCodexThread,
  plainSession,
} from './host-session.ts';
import { createStdioListens } from './listens.ts';
import { createOwnSession } from './own-session.ts';
import { recordedSession } from './own-usage.ts';
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
  /** Tells what the turns of the session used, from its runtime's own record; left out where that is not wanted. */
  reportUsage?: (beside: Pick<UsageReporterDeps, 'home' | 'sessions' | 'tell' | 'agent'>) => UsageReporter;
  log: Logger;
  /** Ends the connection. */
  signal: AbortSignal;
}

/** So long the hub may take to hear what a turn used. */
const TELL_MS = 10_000;

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
  let host: HostSession | undefined;
  let usage: UsageReporter | undefined;
  /** What a driver of ours has in its hands it tells itself. */
  function followUsage(home: string | undefined): void {
    if (usage !== undefined || home === undefined || isManaged(env)) return;
    usage = options.reportUsage?.({
      home,
      sessions: () => recordedSession(host, process.ppid),
      agent: async () => agentOf(await tokens.get()),
      tell: (report) =>
        caller.call('report_usage', report, { request_id: '', signal: AbortSignal.timeout(TELL_MS) }),
    });
  }
  let found: Promise<HostSession> | undefined;
  let isCodex = false;
  let named: string | undefined;
  /** Codex names its thread beside each call; before its first it is looked for. */
  function beginSession(): void {
    // What a call names is told before the first token is made.
    identity.session_id ??= named;
    const plain = claude ?? plainSession(clientName);
    if (plain === undefined && !isCodex && named === undefined) return;
    session.begin(() => (found = findSession(plain)));
  }
  async function findSession(plain: HostSession | undefined): Promise<HostSession> {
    host = plain ?? (await codexSession(env, { named: () => named, anyVersion: options.anyVersion }));
    identity.session_id ??= host.id;
    // Also where no hub is there yet.
    followUsage(host.home);
    return host;
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
  // One that ends at once has used something too.
  await found?.catch(() => {});
  await Promise.all([session.close(), usage?.close()]);
}

/** What the client calls itself, in the handshake of the older revisions or beside each request of the newest. */
function nameOfClient({ params }: JSONRPCRequest | JSONRPCNotification): string | undefined {
  const { clientInfo, _meta: meta } = fieldsOf(params);
  const { name } = fieldsOf(clientInfo ?? fieldsOf(meta)[CLIENT_INFO_META_KEY]);
  return typeof name === 'string' ? name : undefined;
}
