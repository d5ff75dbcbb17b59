import { type Reply, send } from './send.ts';
import type { TestIssuer } from './start-issuer.ts';

/** A browser without a screen: it keeps cookies by origin and goes where it is sent, step by step. */
export interface Visitor {
  get(url: string, headers?: Record<string, string>): Promise<Reply>;
  /** Goes to the issuer and signs in there: the address at which the issuer sends it back to the hub. */
  toReturn(start: string, account: string): Promise<string>;
  /** Signs in at a hub; what the hub answered to the return. */
  signIn(hubUrl: string, account: string): Promise<Reply>;
  cookies(origin: string): string;
  setCookies(origin: string, cookies: string): void;
}

const MOST_STEPS = 12;

/** A visitor with an empty jar. */
export function createVisitor(issuer: TestIssuer): Visitor {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string): Map<string, string> => {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };
  const cookies = (url: string): string =>
    [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; ');

  async function go(url: string, options: Parameters<typeof send>[1] = {}): Promise<Reply> {
    const reply = await send(url, { ...options, headers: { cookie: cookies(url), ...options.headers } });
    for (const line of reply.headers['set-cookie'] ?? []) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (/max-age=0|1970/i.test(line)) jarOf(url).delete(pair.slice(0, at));
      else jarOf(url).set(pair.slice(0, at), pair.slice(at + 1));
    }
    return reply;
  }

  async function toReturn(start: string, account: string): Promise<string> {
    let url = start;
    let reply = await go(url);
    for (let step = 0; step < MOST_STEPS; step += 1) {
      const { location } = reply.headers;
      if (location !== undefined) {
        url = new URL(location, url).href;
        if (new URL(url).origin !== issuer.url) return url;
        reply = await go(url);
      } else if (reply.text.includes('name="prompt"')) {
        const isLogin = reply.text.includes('name="login"');
        const answer = isLogin ? { prompt: 'login', login: account, password: 'any' } : { prompt: 'consent' };
        const body = new URLSearchParams(answer).toString();
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        const action = /action="([^"]+)"/.exec(reply.text)?.[1] ?? url;
        reply = await go(new URL(action, url).href, { method: 'POST', headers, body });
      } else throw new Error(`the issuer answered ${reply.status}: ${reply.text.slice(0, 500)}`);
    }
    throw new Error('the issuer sent us around without end');
  }

  return {
    get: (url, headers = {}) => go(url, { headers }),
    toReturn,
    signIn: async (hubUrl, account) => go(await toReturn(`${hubUrl}/session/start`, account)),
    cookies: (origin) => cookies(origin),
    setCookies(origin, text) {
      const jar = jarOf(origin);
      jar.clear();
      for (const pair of text.split('; '))
        jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    },
  };
}
