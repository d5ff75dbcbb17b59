import type { IncomingMessage } from 'node:http';

import { type Clock, createQuota, type Quota, rateLimited, type SharedSpending } from '@parley/core';

import type { Config } from '../config/schema.ts';
import { peerOf } from './peer.ts';

/** Counts tries to sign in before anything is looked up: who is over the limit is refused with the right word too. */
export interface SignInTries {
  /** One more try from where this request comes from. */
  count(request: IncomingMessage): void;
  /** One more word; those short enough to be guessed are counted over all addresses together. */
  countWord(word: string): void;
}

/** Shorter than the key of a link, which nobody guesses: so that guessing from many addresses keeps no link from working. */
const GUESSABLE = 40;

/** The tries of each address, and of typed codes those of the whole hub, whichever node they come to. */
export function createSignInTries(
  limits: Pick<Config['quota'], 'sign_ins_per_minute' | 'codes_per_minute'>,
  clock: Clock,
  share: SharedSpending['quota'] = (_kind, quota) => quota,
): SignInTries {
  const each = (kind: string, count: number): Quota =>
    share(kind, createQuota({ per_minute: count, burst: count }, clock));
  const byPeer = each('sign-ins', limits.sign_ins_per_minute);
  const codes = each('codes', limits.codes_per_minute);
  const spend = (quota: Quota, name: string, what: string): void => {
    const wait = quota.take(name);
    if (wait > 0) throw rateLimited(what, wait);
  };
  return {
    count: (request) => spend(byPeer, peerOf(request), 'too many tries to sign in'),
    countWord(word) {
      if (word.length < GUESSABLE) spend(codes, '', 'too many codes were tried; follow a link instead');
    },
  };
}
