import { ParleyError } from '@parley/protocol';

/** Longest answer of an issuer that is read. */
const MAX_BYTES = 1_048_576;

/** A fetch that follows nobody elsewhere, gives up in time and reads no more than an issuer has to say. */
export function createBoundedFetch(timeoutMs: number) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    let response: Response;
    let body: Uint8Array;
    try {
      response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
      body = await readBody(response);
    } catch (error) {
      throw new IssuerUnreachable(error);
    }
    const { status, statusText, headers } = response;
    const isBodiless = status === 204 || status === 304;
    return new Response(isBodiless ? null : Buffer.from(body), { status, statusText, headers });
  };
}

/** The issuer did not answer, or not as one: nothing is known about who asks. */
export class IssuerUnreachable extends ParleyError {
  constructor(cause: unknown) {
    super('UNAVAILABLE', 'the issuer of the accounts does not answer; try again in a moment', {
      retry_after_ms: 2_000,
    });
    this.cause = cause;
  }
}

async function readBody({ body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    // A body comes in bytes.
    size += (chunk as Uint8Array).length;
    if (size > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes`);
    // A body comes in bytes.
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks);
}
