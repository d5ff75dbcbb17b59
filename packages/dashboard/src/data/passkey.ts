import type { AskAnswer, NewCredential, PasskeySignature } from '@parley/protocol';

import { call, newKey } from './api.ts';
import { me } from './state.ts';

/** Why this page cannot use passkeys; undefined where it can. */
export function passkeyFault(origins: readonly string[]): string | undefined {
  if (origins.includes(location.origin))
    return 'credentials' in navigator && 'PublicKeyCredential' in globalThis
      ? undefined
      : 'This browser has no passkeys. Use one that has, such as Safari, Chrome or Firefox on a phone, a tablet or a computer.';
  return `Passkeys work at a name, not at ${location.hostname}. Open ${origins.join(' or ')} instead.`;
}

/** Lets the person sign one answer to one request, by finger, face or PIN. */
export async function signAnswer(askId: string, verdict: AskAnswer): Promise<PasskeySignature> {
  await requirePasskeys();
  const asked = await call('challenge_ask', { ask_id: askId, origin: location.origin, ...verdict });
  const given = await ask(() =>
    navigator.credentials.get({
      publicKey: {
        challenge: toBytes(asked.challenge),
        rpId: asked.site,
        allowCredentials: asked.credentials.map(named),
        userVerification: 'required',
        timeout: 120_000,
      },
    }),
  );
  // What a browser gives where it was asked to sign.
  const { clientDataJSON, authenticatorData, signature } = given.response as AuthenticatorAssertionResponse;
  return {
    credential_id: toText(given.rawId),
    client_data: toText(clientDataJSON),
    authenticator_data: toText(authenticatorData),
    signature: toText(signature),
  };
}

/** Makes a passkey on this device and keeps its public half in the hub. */
export async function addPasskey(code: string, name: string): Promise<void> {
  await requirePasskeys();
  const begun = await call('begin_passkey', { origin: location.origin });
  const person = me.value?.agent_id ?? '';
  const given = await ask(() =>
    navigator.credentials.create({
      publicKey: {
        challenge: toBytes(begun.challenge),
        rp: { id: begun.site, name: 'Parley' },
        user: { id: toBytes(begun.user_id), name: person, displayName: person },
        // Ed25519, ES256, RS256.
        pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })),
        excludeCredentials: begun.known.map(named),
        authenticatorSelection: { userVerification: 'required', residentKey: 'preferred' },
        attestation: 'none',
        timeout: 120_000,
      },
    }),
  );
  // What a browser gives where it was asked to make one.
  const { clientDataJSON, attestationObject } = given.response as AuthenticatorAttestationResponse;
  const credential: NewCredential = {
    credential_id: toText(given.rawId),
    client_data: toText(clientDataJSON),
    attestation: toText(attestationObject),
  };
  await call('add_passkey', { code, name, credential, idempotency_key: newKey() });
}

async function requirePasskeys(): Promise<void> {
  const fault = passkeyFault((await call('list_passkeys', { limit: 1 })).origins);
  if (fault !== undefined) throw new Error(fault);
}

/** What the person's device answers; its own words for a refusal help nobody. */
async function ask(run: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const given = await run();
    // Only public keys were asked for.
    if (given !== null) return given as PublicKeyCredential;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'InvalidStateError')
      throw new Error('This device has a passkey for the hub already.', { cause: error });
    if (!(error instanceof DOMException && error.name === 'NotAllowedError')) throw error;
  }
  throw new Error('The passkey was not used: it was cancelled, or it is not on this device.');
}

function named(id: string): PublicKeyCredentialDescriptor {
  return { type: 'public-key', id: toBytes(id) };
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
}

function toText(bytes: ArrayBuffer): string {
  const letters = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
