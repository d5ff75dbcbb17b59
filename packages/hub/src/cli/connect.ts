import { userInfo } from 'node:os';

import { type Client, createClient, type Token } from '@parley/client';
import { checkAddress, ParleyError } from '@parley/protocol';
import type { Command } from 'commander';

import type { LoadedConfig } from '../config/load.ts';
import { readTokenFile } from './credentials.ts';
import { findHub } from './find-hub.ts';
import { UnreachableError } from './output.ts';
import { ownCommand } from './own-command.ts';
import { settingsOf } from './settings.ts';

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
  loaded: LoadedConfig;
  /** The token comes from the data folder's own key. */
  minted: boolean;
  /** A further command for the same hub, as the person can paste it. */
  typed: (line: string) => string;
}

/** How long a command tries before it says that the hub does not answer. */
const PATIENCE_MS = 3_000;

/** How long a minted token lives, and how early it is replaced. */
const TTL_MS = 600_000;
const RENEW_MS = 300_000;

/** Adds the options by which a command finds its hub and its identity. */
export function addConnectOptions(command: Command): Command {
  return command
    .option('--url <url>', 'the hub to talk to; PARLEY_URL; else the one that runs on the data folder')
    .option('--token-file <file>', 'file (mode 0600) with a token; PARLEY_TOKEN_FILE, or PARLEY_TOKEN itself')
    .option('--as <agent>', "act as this agent, with the data folder's own key; PARLEY_AGENT")
    .option('--role <role>', 'role to act with; PARLEY_ROLE; else operator, or worker with --as')
    .option('--workspace <id>', 'workspace to act in');
}

/** A client for the hub and the identity that the command line, the environment and the data folder name. */
export async function connect(command: Command, patienceMs = PATIENCE_MS): Promise<Connection> {
  const options = command.optsWithGlobals<ConnectOptions>();
  const settings = settingsOf(command, { workspace: options.workspace });
  const found = findHub(settings.config.data);
  const address = options.url ?? process.env['PARLEY_URL'];
  const url = (address ?? found?.url)?.replace(/\/+$/, '');
  const program = ownCommand(settings);
  if (url === undefined) throw new UnreachableError(noHub(settings.config.data, program));
  if (address !== undefined) checkAddress(url);
  const given = givenToken(options);
  const token = given ?? (await mint(settings, options, url === found?.url));
  return {
    client: createClient({ url, token, patienceMs }),
    url,
    json: settings.json,
    loaded: settings,
    minted: given === undefined,
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

function givenToken({ tokenFile, as }: ConnectOptions): string | undefined {
  const { PARLEY_TOKEN, PARLEY_TOKEN_FILE } = process.env;
  const file = tokenFile ?? (PARLEY_TOKEN ? undefined : PARLEY_TOKEN_FILE);
  const token = file === undefined ? PARLEY_TOKEN : readTokenFile(file);
  if (token === undefined || token === '') return undefined;
  if (as !== undefined)
    throw new ParleyError('VALIDATION_ERROR', '--as: a token is given, and it says already who you are');
  return token.trim();
}

/** Short-lived tokens from the data folder's own key, for its own hub and no other. */
async function mint(
  { config }: LoadedConfig,
  { as, role }: ConnectOptions,
  isOwnHub: boolean,
): Promise<Token> {
  if (!isOwnHub)
    throw new ParleyError('UNAUTHORIZED', 'this hub is not the one of the data folder: set PARLEY_TOKEN');
  const { issueToken } = await import('../auth/issue-token.ts');
  const agent = as ?? process.env['PARLEY_AGENT'];
  const person = agent ?? personName();
  let held: Promise<string> | undefined;
  let renewAt = 0;
  return () => {
    if (held !== undefined && Date.now() < renewAt) return held;
    renewAt = Date.now() + RENEW_MS;
    const request = {
      agent_id: person,
      workspace_id: config.workspace,
      role: role ?? process.env['PARLEY_ROLE'] ?? (agent === undefined ? 'operator' : 'worker'),
      session_id: process.env['PARLEY_SESSION'] ?? `${person}-cli`,
      ttl_ms: Math.min(TTL_MS, config.auth.max_lifetime_ms),
    };
    held = issueToken(config, request, Date.now()).then(({ token }) => token);
    return held;
  };
}

/** The name under which the person at this terminal speaks. */
export function personName(): string {
  const name = userInfo()
    .username.replaceAll(/[^A-Za-z0-9._:@-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '');
  return name === '' ? 'operator' : name;
}
