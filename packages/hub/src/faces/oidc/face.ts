import { allow } from '../../allow.ts';
import { writeDeviceCookie } from '../../auth/device-cookie.ts';
import type { SignInTries } from '../../auth/sign-in-tries.ts';
import { type Exchange, HttpRefusal, sendJson, sendText } from '../../exchange.ts';
import { type SignIn, SignInRefused } from '../../oidc/sign-in.ts';
import type { Tickets } from '../../oidc/ticket.ts';
import type { Face } from '../../server.ts';
import { readForm } from './read-form.ts';

export interface OidcFaceOptions {
  /** Undefined where people do not sign in at the issuer. */
  signIn: SignIn | undefined;
  tickets: Tickets;
  tries: Pick<SignInTries, 'count'>;
  /** Signs out whom a notice of the issuer names. */
  heard: (notice: string) => Promise<void>;
  metadata: () => Record<string, unknown>;
  baseUrl: () => string;
  onRefused: (why: string, fault: string) => void;
}

const METADATA = '/.well-known/oauth-protected-resource';
const START = '/session/start';
const RETURN = '/session/return';
const ENDED = '/session/ended';

const QUIET = { 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY' };

/** The way to the issuer and back, its notices, and what tells MCP clients where to get a token (RFC 9728). */
export function createOidcFace(options: OidcFaceOptions): Face {
  const { signIn, tickets, tries } = options;
  const isSecure = (): boolean => options.baseUrl().startsWith('https:');
  const routes: Record<string, (exchange: Exchange) => void | Promise<void>> = {
    [METADATA]: tellMetadata,
    [`${METADATA}/mcp`]: tellMetadata,
    ...(signIn === undefined
      ? {}
      : {
          [START]: (exchange) => start(exchange, signIn),
          [RETURN]: (exchange) => finish(exchange, signIn),
          [ENDED]: hear,
        }),
  };

  function tellMetadata(exchange: Exchange): void {
    allow(exchange.request.method, ['GET', 'HEAD']);
    sendText(exchange, 'application/json', JSON.stringify(options.metadata()));
  }

  async function start(exchange: Exchange, way: SignIn): Promise<void> {
    const { request } = exchange;
    allow(request.method, ['GET']);
    if (request.headers['sec-fetch-site'] === 'cross-site')
      throw new HttpRefusal(403, 'FORBIDDEN', 'sign in from the hub’s own page');
    const asked = new URLSearchParams(exchange.query);
    await orWhy(exchange, async () => {
      count(exchange);
      const { url, ticket } = await way.begin(asked.get('to') ?? '/', asked.get('name') ?? '');
      redirect(exchange, url, [await tickets.write(request, ticket, isSecure())]);
    });
  }

  async function finish(exchange: Exchange, way: SignIn): Promise<void> {
    const { request } = exchange;
    allow(request.method, ['GET']);
    await orWhy(exchange, async () => {
      count(exchange);
      const { secret, to } = await way.finish(exchange.query, await tickets.read(request));
      redirect(exchange, to, [
        writeDeviceCookie(request, secret, isSecure()),
        tickets.clear(request, isSecure()),
      ]);
    });
  }

  /** A person sees the sign-in page with the reason, not an answer made for programs. */
  async function orWhy(exchange: Exchange, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error;
      options.onRefused(error.message, error.fault);
      redirect(exchange, `/#why=${error.fault}`, [tickets.clear(exchange.request, isSecure())]);
    }
  }

  function count({ request }: Exchange): void {
    try {
      tries.count(request);
    } catch {
      throw new SignInRefused('often', 'too many tries to sign in');
    }
  }

  async function hear(exchange: Exchange): Promise<void> {
    allow(exchange.request.method, ['POST']);
    const notice = (await readForm(exchange)).get('logout_token');
    if (notice === null) throw new HttpRefusal(400, 'VALIDATION_ERROR', 'logout_token is missing');
    await options.heard(notice);
    sendJson(exchange, 200, '{}');
  }

  return {
    claims: (path) => Object.hasOwn(routes, path),
    async handle(exchange) {
      await routes[exchange.path]?.(exchange);
    },
  };
}

function redirect({ response, request_id }: Exchange, location: string, cookies: string[]): void {
  response.writeHead(303, {
    ...QUIET,
    location,
    'set-cookie': cookies,
    'cache-control': 'no-store',
    'content-length': 0,
    'x-request-id': request_id,
  });
  response.end();
}
