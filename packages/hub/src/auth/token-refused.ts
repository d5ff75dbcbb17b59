import { type ErrorDetails, ParleyError } from '@parley/protocol';

/**
 * Why a signed request from outside is refused, for its sender to tell apart. Only who has signed with a registered key
 * hears more than the first: nobody learns by it which keys there are, or how near a forgery came.
 */
export type RefusalReason =
  | 'invalid_token'
  | 'key_retired'
  | 'key_too_old'
  | 'claim_missing'
  | 'expired'
  | 'not_yet_valid'
  | 'lifetime_too_long'
  | 'wrong_audience'
  | 'wrong_issuer'
  | 'wrong_subject'
  | 'wrong_tenant'
  | 'wrong_role'
  | 'nonce_used';

/** A refusal whose cause goes to the log and not to the caller, but for the reason that a signer from outside is told. */
export class TokenRefused extends ParleyError {
  readonly reason: string;

  constructor(
    reason: string,
    reported?: RefusalReason,
    message = 'a valid token is needed: send Authorization: Bearer <token>',
    more: ErrorDetails = {},
  ) {
    super('UNAUTHORIZED', message, reported === undefined ? undefined : { reason: reported, ...more });
    this.reason = reason;
  }
}
