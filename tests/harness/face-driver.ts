import type { Agent, IncomingHttpHeaders } from 'node:http';

import type { ErrorCode, ErrorEnvelope, OperationName, OutputOf } from '@parley/protocol';

/** What a caller got back, whatever the face. */
export interface Answer<N extends OperationName = OperationName> {
  operation: N;
  status: number;
  headers: IncomingHttpHeaders;
  result: OutputOf<N> | undefined;
  error: ErrorEnvelope['error'] | undefined;
}

export interface CallOptions {
  agent?: Agent;
  localAddress?: string;
  signal?: AbortSignal;
}

/** One protocol over which every operation can be called; cases run over each of them. */
export interface FaceDriver {
  name: string;
  call<N extends OperationName>(
    url: string,
    token: string | undefined,
    operation: N,
    input: unknown,
    options?: CallOptions,
  ): Promise<Answer<N>>;
  /** The HTTP status under which the face answers a code. */
  statusOf(code: ErrorCode): number;
}
