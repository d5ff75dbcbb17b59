import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import type { ArtifactRecord, Store } from '@parley/core';
import { ParleyError, errorCode } from '@parley/protocol';

import { allow } from '../../allow.ts';
import { attachment } from '../../artifacts/attachment.ts';
import type { Span } from '../../artifacts/blobs.ts';
import type { LocalBlobs } from '../../artifacts/local-blobs.ts';
import { ARTIFACT_PATH, type Named } from '../../artifacts/signed-url.ts';
import { spanOf } from '../../artifacts/span.ts';
import { type Exchange, HttpRefusal } from '../../exchange.ts';
import type { Face } from '../../server.ts';

export interface ArtifactFaceOptions {
  store: Store;
  local: LocalBlobs;
  verify: (path: string, query: string) => Promise<Named>;
  onFault: (error: unknown) => void;
}

/** Nothing that is served here runs or is shown: it is saved. */
const SAFE = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-site',
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-store',
  'accept-ranges': 'bytes',
} as const;

/** Serves the bytes of artifacts to whoever holds a signed URL; no token is asked for. */
export function createArtifactFace({ store, local, verify, onFault }: ArtifactFaceOptions): Face {
  async function find({ workspace_id, artifact_id, sha256 }: Named): Promise<ArtifactRecord> {
    const query = { kind: 'artifact', workspace_id, keys: [artifact_id], limit: 1 } as const;
    const [artifact] = await store.records(query);
    if (artifact?.sha256 !== sha256) throw new ParleyError('NOT_FOUND', 'there is no such artifact');
    return artifact;
  }

  async function send({ request, response, request_id }: Exchange, artifact: ArtifactRecord): Promise<void> {
    const { bytes, sha256, mime_type, name } = artifact;
    const etag = `"${sha256}"`;
    const condition = request.headers['if-range'];
    const range = condition === undefined || condition === etag ? request.headers.range : undefined;
    const span = spanOf(range, bytes);
    if (span === 'none')
      throw new HttpRefusal(416, 'VALIDATION_ERROR', `range: there are ${bytes} bytes`, {
        'content-range': `bytes */${bytes}`,
      });
    const head = {
      ...SAFE,
      'content-type': mime_type.startsWith('text/') ? `${mime_type}; charset=utf-8` : mime_type,
      'content-disposition': attachment(name),
      etag,
      'x-request-id': request_id,
      ...lengthOf(span, bytes),
    };
    const status = span === undefined ? 200 : 206;
    const pieces = local.pieces(artifact, span)[Symbol.asyncIterator]();
    // The first piece is waited for before the head is out: what is missing or damaged is told as an error.
    const first = await pieces.next();
    try {
      response.writeHead(status, head);
      if (request.method === 'HEAD') response.end();
      else await pipeline(Readable.from(rest(first, pieces)), response);
    } catch (error) {
      if (errorCode(error) !== 'ERR_STREAM_PREMATURE_CLOSE') onFault(error);
    } finally {
      // Who has gone before the first byte leaves a stream that was never begun, and the file behind it open.
      await pieces.return?.();
    }
  }

  return {
    claims: (path) => path.startsWith(ARTIFACT_PATH),
    async handle(exchange) {
      allow(exchange.request.method, ['GET', 'HEAD']);
      await send(exchange, await find(await verify(exchange.path, exchange.query)));
    },
  };
}

function lengthOf(span: Span | undefined, bytes: number): Record<string, string> {
  if (span === undefined) return { 'content-length': String(bytes) };
  const { first, last } = span;
  return {
    'content-length': String(last - first + 1),
    'content-range': `bytes ${first}-${last}/${bytes}`,
  };
}

async function* rest(
  first: IteratorResult<Uint8Array>,
  pieces: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (let next = first; next.done !== true; next = await pieces.next()) yield next.value;
}
