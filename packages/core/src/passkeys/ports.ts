import type { NewCredential, PASSKEY_DEMANDS, PasskeySignature } from '@parley/protocol';

import type { PasskeyChallenge, PasskeyRecord } from './passkey-record.ts';

/** The passkeys of people, as the hub's own program checks them. */
export interface Passkeys {
  /** Which asks only a passkey approves. */
  demanded: (typeof PASSKEY_DEMANDS)[number];
  /** What this hub is known by in what is signed. */
  hub: string;
  /** The addresses of the hub's own pages that have a name, for without one no browser has passkeys. */
  origins: () => string[];
  /** Holds a new passkey against its challenge; throws where it does not fit. */
  checkNew(
    credential: NewCredential,
    challenge: PasskeyChallenge,
  ): Promise<Pick<PasskeyRecord, 'public_key' | 'counter'>>;
  /** Holds a signature against its challenge and its passkey; throws where it does not fit. */
  checkSignature(
    signature: PasskeySignature,
    challenge: Pick<PasskeyChallenge, 'key' | 'origin' | 'site'>,
    passkey: Pick<PasskeyRecord, 'credential_id' | 'public_key' | 'counter'>,
  ): Promise<Pick<PasskeyRecord, 'counter'>>;
}
