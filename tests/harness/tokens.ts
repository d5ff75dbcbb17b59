import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';

import { issueToken as signForFolder, type IssuedToken } from '../../packages/hub/src/auth/issue-token.ts';
import {
  addPublicKey,
  changeKeyFile,
  type KeyFile,
  readKeyFile,
} from '../../packages/hub/src/auth/key-file.ts';
import { loadConfig } from '../../packages/hub/src/config/load.ts';
import { prepareFolder } from '../../packages/hub/src/data-folder.ts';
import { withStateFiles } from '../../packages/hub/src/state-files/with-state-files.ts';
import { type CliOptions, runJson } from './run-cli.ts';
import { prepareStore } from './store-profile.ts';

/** Who a token speaks for. */
export interface Identity {
  agent: string;
  workspace?: string;
  role?: string;
  session?: string;
}

/** A token of the data folder's own key, made by the hub's own function without a process for it. */
export async function issueToken(who: Identity, { data }: { data: string }): Promise<IssuedToken> {
  const { agent, workspace = 'w1', role = 'worker', session = `${agent}-1` } = who;
  await prepareStore(data);
  prepareLikeCommand(data);
  const identity = { agent_id: agent, workspace_id: workspace, role, session_id: session };
  return signForFolder(configOf(data), { ...identity, ttl_ms: 7 * 86_400_000 }, Date.now());
}

/** A token as people get it: `parley token issue` on the data folder. */
export function issueByCommand(who: Identity & { ttl?: string }, options: CliOptions): Promise<IssuedToken> {
  const { agent, workspace = 'w1', role = 'worker', session = `${agent}-1`, ttl } = who;
  const args = ['--agent', agent, '--workspace', workspace, '--role', role, '--session', session];
  return runJson(['token', 'issue', ...args, ...(ttl === undefined ? [] : ['--ttl', ttl])], options);
}

/** What a command on the folder goes by. */
function configOf(data: string) {
  return loadConfig({ data }, { XDG_CONFIG_HOME: data }).config;
}

/** A command may set its mask for files, this process belongs to the tests. */
function prepareLikeCommand(data: string): void {
  const mask = process.umask();
  try {
    prepareFolder(data);
  } finally {
    process.umask(mask);
  }
}

/** Tokens of any shape, signed by a key that the test holds. */
export interface Signer {
  kid: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
  /** A good token. */
  token(who: Identity, claims?: Record<string, unknown>): string;
  /** Whatever header and claims say, signed for real; undefined drops a field. */
  craft(claims: Record<string, unknown>, header?: Record<string, unknown>): string;
}

/** A key pair nobody has registered yet. */
export function createSigner(kid: string): Signer {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const craft: Signer['craft'] = (claims, header = {}) =>
    joinToken({ alg: 'EdDSA', kid, typ: 'JWT', ...header }, claims, (text) => sign(null, text, privateKey));
  return {
    kid,
    publicKey,
    privateKey,
    craft,
    token: (who, claims = {}) => craft({ ...claimsOf(who), ...claims }),
  };
}

/** A signer whose public key the hub accepts, registered by the hub's own function without a process for it. */
export async function registerSigner(kid: string, { data }: { data: string }): Promise<Signer> {
  const signer = createSigner(kid);
  await prepareStore(data);
  prepareLikeCommand(data);
  await withStateFiles(configOf(data), (stateFiles) =>
    changeKeyFile(stateFiles, (keys) => addPublicKey(keys, Date.now(), pemOf(signer), { kid })),
  );
  return signer;
}

/** The keys and revocations of a hub as they stand. */
export function keysOf(data: string): Promise<KeyFile> {
  return withStateFiles(configOf(data), (stateFiles) => readKeyFile(stateFiles));
}

/** A signer as people register it: `parley key add --public` on the data folder. */
export async function registerByCommand(
  kid: string,
  options: CliOptions & { workspace?: string },
): Promise<Signer> {
  const signer = createSigner(kid);
  const { workspace, ...cli } = options;
  const bound = workspace === undefined ? [] : ['--workspace', workspace];
  await runJson(['key', 'add', '--public', '-', '--kid', kid, ...bound], { ...cli, stdin: pemOf(signer) });
  return signer;
}

function pemOf({ publicKey }: Signer): string {
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

/** All seven claims of a good token that lives for an hour. */
export function claimsOf(who: Identity, now = Date.now()): Record<string, unknown> {
  const { agent, workspace = 'w1', role = 'worker', session = `${agent}-1` } = who;
  const iat = Math.floor(now / 1_000);
  return {
    agent_id: agent,
    workspace_id: workspace,
    role,
    session_id: session,
    iat,
    exp: iat + 3_600,
    jti: randomUUID(),
  };
}

/** A compact JWS out of its three parts. */
export function joinToken(
  header: Record<string, unknown>,
  claims: Record<string, unknown>,
  signText: (text: Buffer) => Buffer,
): string {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${signText(Buffer.from(text)).toString('base64url')}`;
}

function part(value: Record<string, unknown>): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
