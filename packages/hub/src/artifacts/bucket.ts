import { createHash, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';

import type { ArtifactRecord } from '@parley/core';
import { inTime, LIMITS, ParleyError } from '@parley/protocol';

import type { Config } from '../config/schema.ts';
import type { Blobs } from './blobs.ts';
import { attachment } from './attachment.ts';
import { bucketSigner } from './bucket-signer.ts';
import { checked } from './local-blobs.ts';
import { type BucketRequest, signV4 } from './v4-signature.ts';

/** How long the hub's own requests are good. */
const OWN_SEC = 300;
/** How long a bucket may take to begin its answer, and how fast it takes bytes at least, in each millisecond. */
const ANSWER_MS = 60_000;
const LEAST_BYTES = 50;

const DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** Blobs in a bucket of Google Cloud Storage, or of what speaks S3. */
export interface Bucket extends Blobs {
  sign(artifact: ArtifactRecord, untilSec: number): string;
  named(url: string): { workspace_id: string; sha256: string };
}

/** Opens the bucket of the configuration; nothing is sent before there is something to keep. */
export function openBucket(settings: Config['artifacts'], now: () => number): Bucket {
  const { bucket } = settings;
  const { signer, endpoint } = bucketSigner(settings);
  const pathOf = (workspaceId: string, sha256: string): string => `${bucket}/${workspaceId}/${sha256}`;

  function sign(request: Pick<BucketRequest, 'method' | 'path' | 'query'>, at: number, expiresSec: number) {
    return signV4({ endpoint, at: new Date(at), expiresSec, ...request }, signer);
  }

  async function send(method: 'GET' | 'PUT', path: string, more: RequestInit, bytes = 0): Promise<Response> {
    const url = sign({ method, path }, now(), OWN_SEC);
    const response = await inTime(ANSWER_MS + bytes / LEAST_BYTES, new AbortController().signal, (signal) =>
      fetch(url, { method, redirect: 'error', signal, ...more }),
    ).catch(() => undefined);
    if (response?.ok === true) return response;
    await response?.body?.cancel();
    const said = response === undefined ? 'does not answer' : `answered ${response.status}`;
    throw new ParleyError('UNAVAILABLE', `the bucket ${said}; try again`);
  }

  return {
    async keep(workspaceId, { path, sha256, bytes }) {
      const headers = { 'content-type': 'application/octet-stream', 'content-length': String(bytes) };
      const body = Readable.toWeb(createReadStream(path));
      await send('PUT', pathOf(workspaceId, sha256), { headers, body, duplex: 'half' }, bytes);
    },
    async *read(workspaceId, sha256) {
      const { body } = await send('GET', pathOf(workspaceId, sha256), {});
      yield* checked(body ?? emptyBody(), sha256);
    },
    sign({ workspace_id, sha256, name, mime_type }, untilSec) {
      const query = {
        'response-content-disposition': attachment(name),
        'response-content-type': mime_type,
      };
      const seconds = Math.floor(now() / 1_000);
      const path = pathOf(workspace_id, sha256);
      return sign({ method: 'GET', path, query }, seconds * 1_000, untilSec - seconds);
    },
    named(text) {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      const own = `${new URL(endpoint).origin}/${bucket}/`;
      if (url === undefined || !text.startsWith(own))
        throw new ParleyError('VALIDATION_ERROR', 'artifact_uri: must be a URL that this hub has signed', {
          field: 'artifact_uri',
        });
      const given = Object.fromEntries(url.searchParams);
      const isOwn = (name: string): boolean => name.startsWith(signer.prefix);
      const query = Object.fromEntries(Object.entries(given).filter(([name]) => !isOwn(name)));
      const path = decoded(url.pathname.slice(1));
      const at = Date.parse((given[`${signer.prefix}Date`] ?? '').replace(DATE, '$1-$2-$3T$4:$5:$6Z'));
      const seconds = Number(given[`${signer.prefix}Expires`] ?? '');
      const good = Number.isFinite(at) && seconds <= LIMITS.signed_url_sec && at + seconds * 1_000 >= now();
      if (path === undefined || !good || !isSame(sign({ method: 'GET', path, query }, at, seconds), text))
        throw new ParleyError(
          'FORBIDDEN',
          'this URL is not one that the hub has signed, or not good any more',
        );
      const mark = path.lastIndexOf('/');
      return { workspace_id: path.slice(bucket.length + 1, mark), sha256: path.slice(mark + 1) };
    },
  };
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** Compared by their hashes: how long it takes tells nothing of how far two texts agree. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const [left, right] = [digest(a), digest(b)];
  return timingSafeEqual(left, right);
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}
