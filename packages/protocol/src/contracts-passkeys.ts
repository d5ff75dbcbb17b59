import * as z from 'zod';

import { AskAnswer, AskId } from './asks.ts';
import { contract, READS, WRITES } from './contract.ts';
import { DeviceName } from './devices.ts';
import { IdempotencyKey, Timestamp } from './entities.ts';
import { After, Limit, NextAfter } from './pages.ts';
import { NewCredential, PageOrigin, Passkey, PASSKEY_DEMANDS } from './passkeys.ts';
import { Name } from './text.ts';

const listPasskeys = contract({
  name: 'list_passkeys',
  version: '1.0.0',
  title: 'List passkeys',
  description: 'The passkeys of this workspace, whether answers need one, and where; operators only.',
  input: z.object({ limit: Limit, after: After }),
  output: z.object({
    passkeys: z.array(Passkey),
    demanded: z.enum(PASSKEY_DEMANDS).describe('which asks are approved with a passkey only'),
    origins: z.array(z.string()).describe('the addresses of the hub at which passkeys work'),
    next_after: NextAfter,
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/passkeys' },
  essential: false,
});

const beginPasskey = contract({
  name: 'begin_passkey',
  version: '1.0.0',
  title: 'Begin to add a passkey',
  description: 'What a browser needs to make a passkey of yours; add_passkey ends it. Operators only.',
  input: z.object({ origin: PageOrigin }),
  output: z.object({
    challenge: z.string(),
    site: z.string(),
    user_id: z.string(),
    known: z.array(z.string()).describe('credentials that are there already'),
    expires_at: Timestamp,
  }),
  annotations: WRITES,
  essential: false,
  strict: true,
});

const addPasskey = contract({
  name: 'add_passkey',
  version: '1.0.0',
  title: 'Add a passkey',
  description: 'Keep a passkey of yours, with a code of parley passkey code. Operators only.',
  input: z.object({
    code: z.string().min(1).max(40).describe('what parley passkey code printed: good once'),
    name: DeviceName,
    credential: NewCredential,
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ passkey: Passkey }),
  annotations: WRITES,
  essential: false,
  strict: true,
});

const removePasskey = contract({
  name: 'remove_passkey',
  version: '1.0.0',
  title: 'Remove a passkey',
  description: 'It signs nothing from now on; what it has signed stays good. Operators only.',
  input: z.object({ passkey_id: Name, idempotency_key: IdempotencyKey.optional() }),
  output: z.object({ passkey: Passkey }),
  annotations: WRITES,
  essential: false,
  strict: true,
});

const challengeAsk = contract({
  name: 'challenge_ask',
  version: '1.0.0',
  title: 'What a passkey signs',
  description:
    'The challenge for one answer to one ask: good once, for two minutes, and for that answer alone. Operators only.',
  input: AskAnswer.extend({ ask_id: AskId, origin: PageOrigin }),
  output: z.object({
    challenge: z.string(),
    site: z.string(),
    credentials: z.array(z.string()).describe('your passkeys for this name'),
    expires_at: Timestamp,
  }),
  annotations: WRITES,
  essential: false,
  strict: true,
});

/** By name: the table of contracts takes them from here. */
export const passkeyContracts = {
  list_passkeys: listPasskeys,
  begin_passkey: beginPasskey,
  add_passkey: addPasskey,
  remove_passkey: removePasskey,
  challenge_ask: challengeAsk,
};
