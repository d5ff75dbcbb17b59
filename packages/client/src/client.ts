import { CONTRACTS, type InputOf, LIMITS, type OperationName, type OutputOf } from '@parley/protocol';

import { createFollow, type Follow } from './follow.ts';
import { createFollowAll, type FollowAll } from './follow-all.ts';
import { createPatience } from './patience.ts';
import { createUpload, type Upload } from './upload.ts';
import { asClientError, type CallOptions, type ClientOptions, createTransport } from './transport.ts';

/** One operation of the hub as a method; the input may be left out where none of it is required. */
export type Call<N extends OperationName> = (
  ...args: object extends InputOf<N>
    ? [input?: InputOf<N>, options?: CallOptions]
    : [input: InputOf<N>, options?: CallOptions]
) => Promise<OutputOf<N>>;

/** A method for each operation of the hub under its own name, and two ways to follow what happens from now on. */
export type Client = { [N in OperationName]: Call<N> } & {
  follow: Follow;
  followAll: FollowAll;
  uploadArtifact: Upload;
};

const TIMEOUT_MS = 30_000;
const PATIENCE_MS = 60_000;

/**
 * A client for one identity. A call that gets no answer is repeated with the same idempotency key until the hub
 * answers or patience ends, so that a write happens once or its error says that the outcome is unknown.
 */
export function createClient(options: ClientOptions): Client {
  const { timeoutMs = TIMEOUT_MS, patienceMs = PATIENCE_MS } = options;
  const transport = createTransport(options);

  async function call(name: OperationName, input: object, { signal }: CallOptions): Promise<unknown> {
    const body = JSON.stringify(withKey(name, input));
    const patience = createPatience(patienceMs);
    const waiting = waitOf(name, input);
    for (;;) {
      const deadline = AbortSignal.timeout(timeoutMs + waiting);
      try {
        const response = await transport(`/v1/${name}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
          signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
        });
        return await readAnswer(response);
      } catch (error) {
        signal?.throwIfAborted();
        await patience.wait(error, signal);
      }
    }
  }

  const methods = Object.keys(CONTRACTS).map((name) => [
    name,
    (input: object = {}, callOptions: CallOptions = {}) => call(name as OperationName, input, callOptions),
  ]);
  return {
    ...Object.fromEntries(methods),
    follow: createFollow(transport, patienceMs),
    followAll: createFollowAll(transport, patienceMs),
    uploadArtifact: createUpload(transport),
  } as Client;
}

async function readAnswer(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    throw asClientError(error, response.url);
  }
}

/** How long the hub itself may wait before it answers. */
function waitOf(name: OperationName, input: object): number {
  if (!('timeout_ms' in CONTRACTS[name].input.shape)) return 0;
  const asked = 'timeout_ms' in input ? Number(input.timeout_ms) : LIMITS.wait_default_ms;
  return Number.isFinite(asked) ? asked : 0;
}

/** Writes get a key of their own, so that a repeat after a lost answer is seen as one. */
function withKey(name: OperationName, input: object): object {
  if (!('idempotency_key' in CONTRACTS[name].input.shape) || 'idempotency_key' in input) return input;
  return { ...input, idempotency_key: newKey() };
}

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `auto_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
