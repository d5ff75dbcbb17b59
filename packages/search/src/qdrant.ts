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
    try {
      const response = await fetch(`${base}${path}`, {
        method,
        headers,
        redirect: 'error',
        signal: AbortSignal.timeout(Math.max(1, Math.ceil(withinMs))),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      throw new QdrantError(
        isLate ? `it gave no answer within ${Math.ceil(withinMs)} ms` : 'it cannot be reached',
      );
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
