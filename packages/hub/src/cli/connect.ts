import { userInfo } from 'node:os';

import { type Client, createClient, type Token } from '@parley/client';
import { checkAddress, ParleyError } from '@parley/protocol';
import { plainSend } from '@parley/supervisor/plain-send';
import { type Command, Option } from 'commander';

import type { TokenRequest } from '../auth/issue-token.ts';
import { quickToken } from '../auth/quick-token.ts';
import type { RunSettings } from '../config/run-settings.ts';
import { clientSettings } from './client-settings.ts';
import { findHub } from './find-hub.ts';
import { UnreachableError } from './output.ts';
import { withShortIds } from './short-ids.ts';
import { ownCommand } from './own-command.ts';
import { type Speaker, speakerOf, tokenGiven } from './speaker.ts';

/** The options of every command that talks to a hub; tokens are never among them. */
interface ConnectOptions {
  url?: string;
  tokenFile?: string;
  as?: string;
  role?: string;
  workspace?: string;
}

export interface Connection {
  client: Client;
  url: string;
  json: boolean;
  loaded: RunSettings;
  /** The token comes from the data folder's own key. */
  minted: boolean;
  /** As whom the command speaks; undefined where a token cannot be read. */
  speaker: Speaker | undefined;
  /** A further command for the same hub, as the person can paste it. */
  typed: (line: string) => string;
}

/** How long a command tries before it says that the hub does not answer. */
const PATIENCE_MS = 3_000;

/** How long a minted token lives, and how early it is replaced. */
const TTL_MS = 600_000;
const RENEW_MS = 300_000;

/** What every command that talks to a hub has; help shows them after those of its own. */
const CONNECT_OPTIONS = [
  ['--url <url>', 'the hub to talk to; PARLEY_URL; else the one that runs on the data folder'],
  ['--token-file <file>', 'file (mode 0600) with a token; PARLEY_TOKEN_FILE, or PARLEY_TOKEN itself'],
  ['--as <agent>', "act as this agent, with the data folder's own key; PARLEY_AGENT"],
  ['--role <role>', 'role to act with; PARLEY_ROLE; else operator, or worker with --as'],
  ['--workspace <id>', 'workspace to act in'],
] as const;

/** Adds the options by which a command finds its hub and its identity. */
export function addConnectOptions(command: Command): Command {
  for (const [flags, description] of CONNECT_OPTIONS)
    command.addOption(new Option(flags, description).helpGroup('Which hub, and as whom:'));
  return command;
}

/** A client for the hub and the identity that the command line, the environment and the data folder name. */
export async function connect(command: Command, patienceMs = PATIENCE_MS): Promise<Connection> {
  const options = command.optsWithGlobals<ConnectOptions>();
  const settings = await clientSettings(command, { workspace: options.workspace });
  const found = findHub(settings.config.data);
  const address = options.url ?? process.env['PARLEY_URL'];
  const url = (address ?? found?.url)?.replace(/\/+$/, '');
  const program = ownCommand(settings);
  if (url === undefined) throw new UnreachableError(noHub(settings.config.data, program));
  if (address !== undefined) checkAddress(url);
  const given = givenToken(options);
  const token = given?.token ?? mint(settings, options, url === found?.url);
  const speaker = given === undefined ? minted(settings, options) : speakerOf(given.token, given.by);
  return {
    client: withShortIds(createClient({ url, token, patienceMs, send: plainSend })),
    url,
    json: settings.json,
    loaded: settings,
    minted: given === undefined,
    speaker,
    typed: (line) => [program, line, ...repeated(options)].join(' '),
  };
}

/** What to tell a person whose hub is not there. */
function noHub(folder: string, program: string): string {
  return `no hub runs on ${folder}; start one with: ${program} serve`;
}

function repeated({ url, as, workspace }: ConnectOptions): string[] {
  return Object.entries({ url, as, workspace }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${value}`],
  );
}

function givenToken({ tokenFile, as }: ConnectOptions): { token: string; by: string } | undefined {
  const given = tokenGiven(tokenFile, process.env);
  if (given !== undefined && as !== undefined)
    throw new ParleyError(
      'VALIDATION_ERROR',
      `--as: ${given.by} gives a token, and it says already who you are`,
    );
  return given;
}

/** Short-lived tokens from the data folder's own key, for its own hub and no other. */
function mint({ config }: RunSettings, options: ConnectOptions, isOwnHub: boolean): Token {
  if (!isOwnHub)
    throw new ParleyError('UNAUTHORIZED', 'this hub is not the one of the data folder: set PARLEY_TOKEN');
  const { agent_id, workspace_id, role } = minted({ config }, options);
  let held: Promise<string> | undefined;
  let renewAt = 0;
  return () => {
    if (held !== undefined && Date.now() < renewAt) return held;
    renewAt = Date.now() + RENEW_MS;
    const request = {
      agent_id,
      workspace_id,
      role,
      session_id: process.env['PARLEY_SESSION'] ?? `${agent_id}-cli`,
      ttl_ms: Math.min(TTL_MS, config.auth.max_lifetime_ms),
    };
    held = sign(config, request);
    return held;
  };
}

/** Whom a token of the data folder's own key names. */
function minted({ config }: Pick<RunSettings, 'config'>, { as, role }: ConnectOptions): Speaker {
  const { PARLEY_AGENT, PARLEY_ROLE } = process.env;
  const agent = as ?? PARLEY_AGENT;
  return {
    agent_id: agent ?? personName(),
    role: role ?? PARLEY_ROLE ?? (agent === undefined ? 'operator' : 'worker'),
    workspace_id: config.workspace,
    by: as !== undefined ? '--as' : agent === undefined ? 'the data folder' : 'PARLEY_AGENT',
  };
}

async function sign(config: RunSettings['config'], request: TokenRequest): Promise<string> {
  const quick = quickToken(config, request, Date.now());
  if (quick !== undefined) return quick;
  const { issueToken } = await import('../auth/issue-token.ts');
  return (await issueToken(config, request, Date.now())).token;
}

/** The name under which the person at this terminal speaks. */
export function personName(): string {
  const name = userInfo()
    .username.replaceAll(/[^A-Za-z0-9._:@-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '');
  return name === '' ? 'operator' : name;
}
