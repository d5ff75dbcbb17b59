import { ParleyError } from '@parley/protocol';

/** Where a Qdrant stands. */
export interface QdrantPlace {
  url: string;
  key: string | undefined;
  /** How long it may take to answer what is not a question. */
  timeoutMs: number;
}

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

/** Qdrant was not there, did not answer in time, or would not do what it was asked. */
export class QdrantError extends ParleyError {
  /** What it answered; undefined when it gave no answer. */
  readonly status: number | undefined;

  constructor(why: string, status?: number) {
    super('UNAVAILABLE', `the search cannot ask Qdrant: ${why}`, { retry_after_ms: 1_000 });
    this.status = status;
  }
}

const SHOWN = 300;

/** Speaks to Qdrant; its key is told nobody else. */
export function createQdrant({ url, key, timeoutMs }: QdrantPlace) {
  const base = url.replace(/\/+$/, '');
  const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { 'api-key': key }) };

  return async function call<T>(
    method: Method,
    path: string,
    body?: unknown,
    withinMs = timeoutMs,
  ): Promise<T> {
    const { status, text } = await exchange(method, path, body, withinMs);
    // What Qdrant documents; whoever calls names the result of that call.
    const answer = read(text) as { result?: T; status?: { error?: unknown } } | undefined;
    if (status >= 400) {
      const why = answer?.status?.error;
      throw new QdrantError(
        `it answered ${status}${typeof why === 'string' ? `, ${why.slice(0, SHOWN)}` : ''}`,
        status,
      );
    }
    if (answer?.result === undefined) throw new QdrantError('its answer is none of Qdrant’s');
    return answer.result;
  };

  async function exchange(method: Method, path: string, body: unknown, withinMs: number) {
    const signal = AbortSignal.timeout(Math.max(1, Math.ceil(withinMs)));
    const request = {
      method,
      headers,
      redirect: 'error',
      signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    } as const;
    for (let tries = 1; ; tries++)
      try {
        const response = await fetch(`${base}${path}`, request);
        return { status: response.status, text: await response.text() };
      } catch {
        if (signal.aborted) throw new QdrantError(`it gave no answer within ${Math.ceil(withinMs)} ms`);
        // A connection that was kept may have ended just now. Whatever we ask may be asked twice.
        if (tries === 2) throw new QdrantError('it cannot be reached');
      }
  }
}

export type Qdrant = ReturnType<typeof createQdrant>;

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Resolves when Qdrant is there and lets us in. */
export async function checkQdrant(place: QdrantPlace): Promise<void> {
  await createQdrant(place)('GET', '/collections');
}
