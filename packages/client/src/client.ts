import {
  CALL_FACTS,
  type InputOf,
  LIMITS,
  type OperationName,
  type OutputOf,
  keysOf,
} from '@parley/protocol';

import { createCaller, PATIENCE_MS } from './caller.ts';
import { fetchHub } from './first-contact.ts';
import { createFollow, type Follow } from './follow.ts';
import { createFollowAll, type FollowAll } from './follow-all.ts';
import { createUpload, type Upload } from './upload.ts';
import { type CallOptions, type ClientOptions, createTransport } from './transport.ts';

/** One operation of the hub as a method; the input may be left out where none of it is required. */
export type OperationCall<N extends OperationName> = (
  ...args: object extends InputOf<N>
    ? [input?: InputOf<N>, options?: CallOptions]
    : [input: InputOf<N>, options?: CallOptions]
) => Promise<OutputOf<N>>;

/** A method for each operation of the hub under its own name, and two ways to follow what happens from now on. */
export type Client = { [N in OperationName]: OperationCall<N> } & {
  follow: Follow;
  followAll: FollowAll;
  uploadArtifact: Upload;
};

/** A client for one identity. */
export function createClient(options: ClientOptions): Client {
  const { patienceMs = PATIENCE_MS } = options;
  const transport = createTransport(options, options.fetch ?? fetchHub);
  const call = createCaller(
    options.send === undefined ? transport : createTransport(options, options.send),
    options,
  );
  const methods = keysOf(CALL_FACTS).map((name) => {
    const keyed = CALL_FACTS[name].includes('keyed');
    return [
      name,
      (input: object = {}, callOptions: CallOptions = {}) =>
        call(name, input, { keyed, waitMs: waitOf(name, input) }, callOptions),
    ];
  });
  // Each call of the table got its method just now, with what that call takes.
  const calls = Object.fromEntries(methods) as { [N in OperationName]: OperationCall<N> };
  return {
    ...calls,
    follow: createFollow(transport, patienceMs),
    followAll: createFollowAll(transport, patienceMs),
    uploadArtifact: createUpload(transport),
  };
}

/** How long the hub itself may wait before it answers. */
function waitOf(name: OperationName, input: object): number {
  if (!CALL_FACTS[name].includes('waits')) return 0;
  const asked = 'timeout_ms' in input ? Number(input.timeout_ms) : LIMITS.wait_default_ms;
  return Number.isFinite(asked) ? asked : 0;
}
