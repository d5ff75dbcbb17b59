import * as z from 'zod';

import { Timestamp } from './entities.ts';
import { Name } from './text.ts';

/** When an answer to an ask must be signed with a passkey. */
export const PASSKEY_DEMANDS = ['off', 'high_risk'] as const;

/** Bytes as the browser's own JSON forms have them. */
const Base64Url = z
  .string()
  .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url')
  .max(16_384);

/** A page of the hub on which a passkey is used: what a browser calls its origin. */
export const PageOrigin = z
  .string()
  .max(300)
  .describe('the origin of the hub’s own page, such as http://localhost:7777');

/** A key in a person's device that signs what they approve; the hub knows its public half. */
export const Passkey = z
  .object({
    passkey_id: Name,
    name: z.string(),
    person: Name.describe('whose it is'),
    site: z.string().describe('the name at which it works: localhost, or the hub’s own on the network'),
    created_at: Timestamp,
    last_used_at: Timestamp.optional(),
    uses: z.number().int(),
  })
  .meta({ id: 'Passkey' });
export type Passkey = z.infer<typeof Passkey>;

/** What a browser gives when a passkey was made. */
export const NewCredential = z
  .strictObject({
    credential_id: Base64Url,
    client_data: Base64Url,
    attestation: Base64Url,
  })
  .describe('what navigator.credentials.create gave');
export type NewCredential = z.infer<typeof NewCredential>;

/** What a browser gives when a passkey has signed. */
export const PasskeySignature = z
  .strictObject({
    credential_id: Base64Url,
    client_data: Base64Url,
    authenticator_data: Base64Url,
    signature: Base64Url,
  })
  .describe('over the challenge of challenge_ask: what navigator.credentials.get gave');
export type PasskeySignature = z.infer<typeof PasskeySignature>;
