import { hash } from 'node:crypto';

import { type Ask, type AskAnswer, type AskVerdict, canonicalJson } from '@parley/protocol';

import type { PasskeyChallenge } from './passkey-record.ts';

/** Who signs where, for which hub, and until when. */
export type Signing = Pick<PasskeyChallenge, 'person' | 'origin' | 'hub' | 'nonce' | 'until'>;

/**
 * The challenge that a passkey signs: the hash of one answer to one ask. Another command, folder, option, verdict, hub,
 * person or moment gives another one.
 */
export function challengeOf(
  { person, origin, hub, nonce, until }: Signing,
  ask: Ask,
  answer: AskAnswer,
): string {
  const { status: _status, verdict: _verdict, resolved_at: _at, agent_gone_since: _gone, ...shown } = ask;
  const statement = { type: 'parley.answer.v1', person, origin, hub, nonce, until, ask: shown, answer };
  return hash('sha256', canonicalJson(statement), 'base64url');
}

/** What a person said, of a verdict: without what the hub knows of who and when. */
export function saidIn(verdict: AskVerdict): Omit<AskVerdict, 'by' | 'device' | 'at' | 'passkey'> {
  const { by: _by, device: _device, at: _at, passkey: _passkey, ...said } = verdict;
  return said;
}
