import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';

import { type CliOptions, runJson } from './run-cli.ts';

/** Who a token speaks for. */
export interface Identity {
  agent: string;
  workspace?: string;
  role?: string;
  session?: string;
}

export interface Issued {
  token: string;
  jti: string;
  expires_at: string;
}

/** A token as people get it: `parley token issue` on the data folder. */
export function issueToken(who: Identity & { ttl?: string }, options: CliOptions): Promise<Issued> {
  const { agent, workspace = 'w1', role = 'worker', session = `${agent}-1`, ttl } = who;
  const args = ['--agent', agent, '--workspace', workspace, '--role', role, '--session', session];
  return runJson(['token', 'issue', ...args, ...(ttl === undefined ? [] : ['--ttl', ttl])], options);
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

/** A signer whose public key the hub accepts: `parley key add --public`. */
export async function registerSigner(
  kid: string,
  options: CliOptions & { workspace?: string },
): Promise<Signer> {
  const signer = createSigner(kid);
  const { workspace, ...cli } = options;
  const pem = signer.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const bound = workspace === undefined ? [] : ['--workspace', workspace];
  await runJson(['key', 'add', '--public', '-', '--kid', kid, ...bound], { ...cli, stdin: pem });
  return signer;
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
