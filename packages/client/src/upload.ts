import type { OutputOf } from '@parley/protocol';

import { asClientError, type CallOptions, type Transport } from './transport.ts';

/** What is said of the bytes that are sent. */
export interface UploadOptions extends CallOptions {
  name: string;
  mime_type: string;
  /** The hub refuses bytes that have another one. */
  sha256?: string;
  idempotency_key?: string;
}

/** Sends bytes as an artifact, however many, as they come. A broken upload keeps nothing, and may be sent again. */
export type Upload = (
  body: ReadableStream<Uint8Array> | Blob | Uint8Array<ArrayBuffer>,
  options: UploadOptions,
) => Promise<OutputOf<'put_artifact'>>;

/** Uploads over one transport. */
export function createUpload(transport: Transport): Upload {
  return async (body, { name, mime_type, sha256, idempotency_key, signal }) => {
    const query = new URLSearchParams(sha256 === undefined ? { name } : { name, sha256 });
    const headers: Record<string, string> = { 'content-type': mime_type };
    if (idempotency_key !== undefined) headers['idempotency-key'] = idempotency_key;
    const init = { method: 'POST', headers, body, duplex: 'half' } as const;
    const path = `/v1/artifacts?${query.toString()}`;
    const response = await transport(path, signal === undefined ? init : { ...init, signal });
    try {
      // The hub answers by its contract.
      return (await response.json()) as OutputOf<'put_artifact'>;
    } catch (error) {
      throw asClientError(error, response.url);
    }
  };
}
