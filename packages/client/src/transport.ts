import { fieldsOf, errorCode } from '@parley/protocol';
import { type ClientError, noAnswer, toClientError } from './client-error.ts';

/** A token, or a function that brings a fresh one whenever it is asked. */
export type Token = string | (() => string | Promise<string>);

/** Where the hub listens, such as http://127.0.0.1:8620, or a function that finds it whenever it is asked. */
export type Address = string | (() => string | Promise<string>);

export interface ClientOptions {
  url: Address;
  token: Token;
  /** Another fetch than the global one. */
  fetch?: typeof fetch;
  /** Sends calls by other means than fetch; what is followed or uploaded is not a call. */
  send?: (url: string, init: RequestInit) => Promise<HttpAnswer>;
  /** How long one try may take before its outcome counts as unknown; 30 s when left out. */
  timeoutMs?: number;
  /** How long all tries of one call may take together; 60 s when left out. */
  patienceMs?: number;
}

export interface CallOptions {
  /** Gives the call up; what it did at the hub is then unknown. */
  signal?: AbortSignal;
}

/** As much of a response as a call needs. */
export type HttpAnswer = Pick<Response, 'ok' | 'status' | 'url' | 'text' | 'json'> & {
  headers: Pick<Headers, 'get'>;
};

/** One request and the answer to it, with the token and the errors seen to. */
export type Transport<A extends HttpAnswer = Response> = (path: string, init: RequestInit) => Promise<A>;

/** Sends requests with the token; an answer that is not 2xx becomes a ClientError, as does none at all. */
export function createTransport<A extends HttpAnswer>(
  options: Pick<ClientOptions, 'url' | 'token'>,
  send: (url: string, init: RequestInit) => Promise<A>,
): Transport<A> {
  const takeToken = (): string | Promise<string> =>
    typeof options.token === 'string' ? options.token : options.token();

  async function attempt(path: string, init: RequestInit, token: string): Promise<A> {
    let base = 'the hub';
    try {
      base = await findHub(options.url);
      const response = await send(`${base}${path}`, {
        ...init,
        // All calls here give them as an object.
        headers: { ...(init.headers as Record<string, string>), authorization: `Bearer ${token}` },
        // A redirect would carry the token elsewhere.
        redirect: 'error',
      });
      if (response.ok) return response;
      throw toClientError(response.status, await response.text(), response.headers);
    } catch (error) {
      throw asClientError(error, base);
    }
  }

  return async (path, init) => {
    const token = await takeToken();
    try {
      return await attempt(path, init, token);
    } catch (error) {
      if (fieldsOf(error)['status'] !== 401) throw error;
      const fresh = await takeToken();
      if (fresh === token) throw error;
      return attempt(path, init, fresh);
    }
  };
}

/** The address as it is now, without a slash at its end. */
export async function findHub(address: Address): Promise<string> {
  return (typeof address === 'string' ? address : await address()).replace(/\/+$/, '');
}

/** What broke on the way, as a ClientError whose outcome is unknown. */
export function asClientError(error: unknown, url: string): ClientError {
  // Its name is its own; `instanceof` fails where the client is bundled twice.
  if (error instanceof Error && error.name === 'ClientError') return error as ClientError;
  return noAnswer(url, reasonOf(error));
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'it took too long';
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message !== '' ? cause.message : (errorCode(cause) ?? error.message);
}
