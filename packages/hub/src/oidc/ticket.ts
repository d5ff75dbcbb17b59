import { hkdfSync, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { EncryptJWT, jwtDecrypt } from 'jose';
import * as z from 'zod';

/** How long a person may take at the issuer. */
const LIFE_S = 600;

const Ticket = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  to: z.string(),
  device: z.string(),
});

/** What a browser carries to the issuer and back, so that the hub need remember nobody. */
export type Ticket = z.infer<typeof Ticket>;

/** Seals tickets into a cookie that the browser cannot read, and opens those it brings back. */
export interface Tickets {
  write(request: IncomingMessage, ticket: Ticket, isSecure: boolean): Promise<string>;
  /** Undefined where there is none, or none of ours, or it is too old. */
  read(request: IncomingMessage): Promise<Ticket | undefined>;
  /** Takes the cookie away. */
  clear(request: IncomingMessage, isSecure: boolean): string;
}

/** Tickets of all nodes that share a client secret; without one, of this process. */
export function createTickets(secret: string | undefined, now: () => number): Tickets {
  const source = secret === undefined ? randomBytes(32) : Buffer.from(secret);
  const key = new Uint8Array(hkdfSync('sha256', source, '', 'parley sign-in ticket', 32));
  const nameOf = ({ socket }: IncomingMessage): string => `parley-sign-in-${socket.localPort ?? 0}`;
  // Lax: it must come back with a person whom another site sends.
  const cookie = (name: string, value: string, seconds: number, isSecure: boolean): string =>
    `${name}=${value}; ${isSecure ? 'Secure; ' : ''}HttpOnly; SameSite=Lax; Path=/session; Max-Age=${seconds}`;
  return {
    async write(request, ticket, isSecure) {
      const sealed = await new EncryptJWT(ticket)
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setExpirationTime(Math.floor(now() / 1_000) + LIFE_S)
        .encrypt(key);
      return cookie(nameOf(request), sealed, LIFE_S, isSecure);
    },
    async read(request) {
      const start = `${nameOf(request)}=`;
      const pair = (request.headers.cookie ?? '').split(/; */).find((one) => one.startsWith(start));
      if (pair === undefined) return undefined;
      try {
        const { payload } = await jwtDecrypt(pair.slice(start.length), key, {
          currentDate: new Date(now()),
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
        });
        return Ticket.parse(payload);
      } catch {
        return undefined;
      }
    },
    clear: (request, isSecure) => cookie(nameOf(request), '', 0, isSecure),
  };
}
