import { hash } from 'node:crypto';

import type { Passkey } from '@parley/protocol';

/** A passkey as it is kept: what its device signs is held against the public key. */
export interface PasskeyRecord extends Passkey {
  workspace_id: string;
  credential_id: string;
  /** COSE, as the device gave it. */
  public_key: string;
  /** How often its device says it has signed; one that tells nothing stays at 0. */
  counter: number;
}

/** What was handed out and is good once: a challenge to sign, or a code by which a passkey is added. */
export interface PasskeyChallenge {
  /** The challenge itself, or the hash of the code. */
  key: string;
  workspace_id: string;
  person: string;
  purpose: 'add' | 'answer' | 'code';
  /** The page it was handed to, and its name; a code has none. */
  origin: string;
  site: string;
  hub: string;
  nonce: string;
  ask_id?: string;
  /** Wall-clock milliseconds. */
  until: number;
}

/** Everything by which anybody can see later that a person signed an answer: it stands in the log beside the verdict. */
export interface PasskeyProof extends Pick<PasskeyChallenge, 'origin' | 'site' | 'hub' | 'nonce' | 'until'> {
  passkey_id: string;
  credential_id: string;
  public_key: string;
  counter: number;
  client_data: string;
  authenticator_data: string;
  signature: string;
}

/** The name under which the hub keeps a credential, whose own may be a thousand letters long. */
export function passkeyId(credentialId: string): string {
  return `passkey-${hash('sha256', credentialId, 'hex').slice(0, 16)}`;
}

/** The key under which a code is kept: the code itself is nowhere. */
export function codeKey(code: string): string {
  return `code-${hash('sha256', code.toUpperCase().replaceAll(/[^A-Z0-9]/g, ''), 'base64url')}`;
}
