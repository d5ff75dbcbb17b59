import type { Base, InThread } from '../command.ts';
import type { PasskeyChallenge, PasskeyRecord } from './passkey-record.ts';

/** A challenge that a passkey is to sign. */
export type IssueChallenge = Base<'issue_challenge', Record<string, never>, { until: number }> & {
  challenge: PasskeyChallenge;
};
/** Whoever owns the data folder lets a person add a passkey; `thread_id` of all about passkeys is the person's journal. */
export type IssuePasskeyCode = InThread<'issue_passkey_code', Record<string, never>, { until: number }> & {
  challenge: PasskeyChallenge;
};
/** The input names the challenge that was signed and the code that lets it in. */
export type AddPasskey = InThread<
  'add_passkey',
  { challenge: string; code: string },
  { passkey: PasskeyRecord }
> & { passkey: PasskeyRecord };
export type RemovePasskey = InThread<'remove_passkey', { passkey_id: string }, { passkey: PasskeyRecord }>;

/** What changes passkeys. */
export type PasskeyCommands = IssueChallenge | IssuePasskeyCode | AddPasskey | RemovePasskey;
