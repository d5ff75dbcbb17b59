import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

import { ParleyError } from '@parley/protocol';

/**
 * State that a client carries for us between two rounds of one request. It comes back as an attacker's input, so it
 * opens only unaltered, in time, once, and for the binding (caller and request) it was sealed for.
 */
export interface StateSeal {
  seal(payload: unknown, binding: string): string;
  open(text: string, binding: string): unknown;
}

export interface SealOptions {
  key: Uint8Array;
  ttlMs: number;
  now: () => number;
}

/** How many opened states are remembered; beyond it none is opened until the oldest expire. */
const MAX_SPENT = 100_000;

/** Seals with HMAC-SHA-256; what is inside can be read by the client, not changed. */
export function createStateSeal({ key, ttlMs, now }: SealOptions): StateSeal {
  const spentUntil = new Map<string, number>();

  function tag(body: string, binding: string): Buffer {
    return createHmac('sha256', key).update(`${body.length}:${body}${binding}`).digest();
  }

  function spend(nonce: string, expires: number): void {
    for (const [old, until] of spentUntil) {
      if (until > now()) break;
      spentUntil.delete(old);
    }
    if (spentUntil.has(nonce) || spentUntil.size >= MAX_SPENT) throw refused();
    spentUntil.set(nonce, expires);
  }

  return {
    seal(payload, binding) {
      const sealed = [payload, now() + ttlMs, randomBytes(12).toString('base64url')];
      const body = Buffer.from(JSON.stringify(sealed)).toString('base64url');
      return `${body}.${tag(body, binding).toString('base64url')}`;
    },
    open(text, binding) {
      const [body = '', given = '', ...rest] = text.split('.');
      const wanted = tag(body, binding);
      const mac = Buffer.from(given, 'base64url');
      // Several texts decode to the same bytes; only the one that was given out counts.
      const exact = rest.length === 0 && given === wanted.toString('base64url');
      if (!exact || mac.length !== wanted.length || !timingSafeEqual(mac, wanted)) throw refused();
      const [payload, expires, nonce] = JSON.parse(Buffer.from(body, 'base64url').toString()) as [
        unknown,
        number,
        string,
      ];
      if (expires <= now()) throw refused();
      spend(nonce, expires);
      return payload;
    },
  };
}

function refused(): ParleyError {
  return new ParleyError('VALIDATION_ERROR', 'requestState is altered, used, expired or not yours');
}
