import { lookup as systemLookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';

import { errorCode } from '@parley/protocol';
/** What came back: no body, since nobody reads it. */
export interface HttpReply {
  status: number;
  retryAfterMs?: number;
}

/** The way out of the hub. */
export interface Outgoing {
  /** Sends one request. */
  post(url: string, headers: Record<string, string>, body: string | Buffer): Promise<HttpReply>;
  /** Why nothing would ever be sent to an address, as it is now; a name that nobody can look up yet is no reason. */
  refusal(url: string): Promise<string | undefined>;
}

/** Addresses that are nobody's in the open Internet, or that lead back into this network by another name. */
const CLOSED = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  CLOSED.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  CLOSED.addSubnet(net, bits, 'ipv6');

/** Of IPv6 only this is the open Internet: no mapped, translated, site-local or link-local address is in it. */
const OPEN = new BlockList();
OPEN.addSubnet('2000::', 3, 'ipv6');

/** True for an address to which anybody may send. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !CLOSED.check(address, 'ipv4');
  return family === 6 && OPEN.check(address, 'ipv6') && !CLOSED.check(address, 'ipv6');
}

/** Tells all addresses of a name. */
type Resolve = (
  name: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

interface OutgoingOptions {
  allowedHosts: readonly string[];
  timeoutMs: number;
  /** The machine's own way to look names up, unless told otherwise. */
  resolve?: Resolve;
}

/** A refusal that names the reason and no address. */
class Refused extends Error {}

/**
 * Sends to public addresses over TLS, and to the hosts that the configuration allows. What a name means is looked up
 * once, for the connection itself; a redirect is not followed, and of the answer only its status is read.
 */
export function createOutgoing({
  allowedHosts,
  timeoutMs,
  resolve = systemLookup,
}: OutgoingOptions): Outgoing {
  const publicLookup = createPublicLookup(resolve);
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  const isAllowed = ({ host, hostname }: URL): boolean => allowed.has(host) || allowed.has(hostname);

  /** What the address alone tells. */
  function refusedAsItStands(url: URL): string | undefined {
    const literal = literalOf(url);
    if (url.username !== '' || url.password !== '') return 'an address with a name in it';
    if (url.protocol !== 'https:' && !(isAllowed(url) && url.protocol === 'http:'))
      return 'only https goes to hosts that notify.allowed_hosts does not name';
    const own = /^(?:.*\.)?localhost\.?$/.test(literal) || (isIP(literal) !== 0 && !isPublicAddress(literal));
    return !isAllowed(url) && own ? PRIVATE : undefined;
  }

  return {
    async refusal(text) {
      const url = new URL(text);
      const why = refusedAsItStands(url);
      if (why !== undefined || isAllowed(url) || isIP(literalOf(url)) !== 0) return why;
      return new Promise((tell) =>
        publicLookup(url.hostname, { all: true }, (error) =>
          tell(error instanceof Refused ? error.message : undefined),
        ),
      );
    },
    async post(text, headers, body) {
      const url = new URL(text);
      const why = refusedAsItStands(url);
      if (why !== undefined) throw new Refused(why);
      const options: RequestOptions = {
        method: 'POST',
        headers: { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' },
        agent: false,
        timeout: timeoutMs,
        signal: AbortSignal.timeout(timeoutMs),
        ...(isAllowed(url) ? {} : { lookup: publicLookup }),
      };
      return post(url, options, body);
    },
  };
}

/** The host without the brackets of an IPv6 address. */
function literalOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

const PRIVATE = 'a private address; name its host in notify.allowed_hosts to allow it';

/** Looks a name up and refuses it when any of its addresses is not public. */
function createPublicLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, '', 0);
      const first = addresses[0];
      if (first === undefined || addresses.some(({ address }) => !isPublicAddress(address)))
        return done(new Refused(PRIVATE), '', 0);
      if (options.all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

function post(url: URL, options: RequestOptions, body: string | Buffer): Promise<HttpReply> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      const after = Number(response.headers['retry-after']);
      response.destroy();
      resolve({
        status: response.statusCode ?? 0,
        ...(Number.isFinite(after) && after > 0 ? { retryAfterMs: after * 1_000 } : {}),
      });
    });
    sent.once('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.once('error', reject);
    sent.end(body);
  });
}

/** What went wrong with a request, in words that hold no address. */
export function whyNot(error: unknown): { why: string; final: boolean } {
  if (error instanceof Refused) return { why: `not sent: ${error.message}`, final: true };
  const code = errorCode(error);
  const name = error instanceof Error ? error.name : undefined;
  if (name === 'AbortError' || name === 'TimeoutError') return { why: 'no answer in time', final: false };
  return {
    why: code === undefined ? 'the connection failed' : `the connection failed: ${code}`,
    final: false,
  };
}
