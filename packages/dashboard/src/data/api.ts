import type { ErrorCode, InputOf, OperationName, OutputOf } from '@parley/protocol';

import { me } from './state.ts';

/** A refusal in the hub's own words; without a code no answer came and the outcome is unknown. */
export class ApiError extends Error {
  readonly code: ErrorCode | undefined;
  readonly details: Record<string, unknown>;

  constructor(message: string, code?: ErrorCode, details: Record<string, unknown> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** How far the hub's clock is ahead of this one. */
let ahead = 0;

/** The hub's time: what counts down must not depend on how the clock of a tablet is set. */
export function hubNow(): number {
  return Date.now() + ahead;
}

/** Calls an operation of the hub. */
export function call<N extends OperationName>(name: N, input: InputOf<N>): Promise<OutputOf<N>> {
  // The hub answers by its contract.
  return send(`/v1/${name}`, { method: 'POST', body: JSON.stringify(input) }) as Promise<OutputOf<N>>;
}

/** Reads something of the hub. */
export function read<T>(path: string): Promise<T> {
  // Whoever reads names what stands there.
  return send(path, { method: 'GET' }) as Promise<T>;
}

/** Sends a request as this device; a device that is no longer welcome is shown the sign-in. */
export async function send(path: string, init: RequestInit): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, {
      ...init,
      headers: init.headers ?? (init.body === undefined ? {} : { 'content-type': 'application/json' }),
    });
  } catch {
    throw new ApiError('The hub does not answer.');
  }
  const date = Date.parse(response.headers.get('date') ?? '');
  // The header tells whole seconds: a small difference is none.
  if (Math.abs(date + 500 - Date.now() - ahead) > 2_000) ahead = date + 500 - Date.now();
  // The one shape in which the hub refuses.
  const body = (await response.json().catch(() => ({}))) as {
    error?: { code: ErrorCode; message: string; details?: Record<string, unknown> };
  };
  if (response.ok) return body;
  if (response.status === 401 && path !== '/session') me.value = null;
  const { code, message = `The hub answered ${response.status}.`, details } = body.error ?? {};
  throw new ApiError(message, code, details);
}

/** A word of our own for a write, so that a repeat of it is none. */
export function newKey(): string {
  return `web_${crypto.randomUUID()}`;
}

/** What to tell a person of an error. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
