import { type Ask, type AskAnswer, ParleyError } from '@parley/protocol';

import type { Passkeys } from './ports.ts';

/** True where only a passkey may say this to an ask: all but no, to what is of high risk. */
export function needsPasskey(
  ask: Pick<Ask, 'risk' | 'needs_passkey'>,
  { decision }: Pick<AskAnswer, 'decision'>,
  demanded: Passkeys['demanded'] | undefined,
): boolean {
  if (decision === 'denied') return false;
  return ask.needs_passkey === true || (demanded === 'high_risk' && ask.risk === 'high');
}

/** The refusal of an answer without a passkey, with the way to give it. */
export function passkeyNeeded(askId: string, [origin]: readonly string[] = []): ParleyError {
  const where = origin === undefined ? `the dashboard, at /asks/${askId}` : `${origin}/asks/${askId}`;
  return new ParleyError(
    'FORBIDDEN',
    `this is high risk, and only a passkey approves it here: open ${where} and sign it; a denial needs no passkey`,
    { reason: 'passkey_needed' },
  );
}

/** The refusal of what was signed over a challenge that is no longer open. */
export function staleChallenge(): ParleyError {
  return new ParleyError('CONFLICT', 'the challenge ran out, or it was used before; try again', {
    reason: 'challenge_over',
  });
}

/** The refusal of a signature: what does not fit, and what to do. */
export function badSignature(why: string): ParleyError {
  return new ParleyError('FORBIDDEN', `the passkey's signature was refused: ${why}; try again from the ask`, {
    reason: 'signature_refused',
  });
}
