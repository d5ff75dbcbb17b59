import { createReadStream, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';

import type { KeptArtifact } from '@parley/core';
import { LIMITS, ParleyError } from '@parley/protocol';
import { z } from 'zod';

import type { Config } from '../config/schema.ts';
import type { Blobs } from './blobs.ts';
import { attachment } from './attachment.ts';
import { checked } from './local-blobs.ts';
import { type BucketRequest, type ServiceAccount, signV4 } from './v4-signature.ts';

const Account = z.object({ client_email: z.string().min(1), private_key: z.string().min(1) });

/** How long the hub's own requests are good. */
const OWN_SEC = 300;

const DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** Blobs in a bucket of Google Cloud Storage, or of what speaks like it. */
export interface Bucket extends Blobs {
  sign(artifact: KeptArtifact, untilSec: number): string;
  named(url: string): { workspace_id: string; sha256: string };
}

/** Opens the bucket of the configuration; nothing is sent before there is something to keep. */
export function openBucket(settings: Config['artifacts'], now: () => number): Bucket {
  const { bucket, endpoint } = settings;
  const account = readAccount(settings.credentials);
  const objectOf = (workspaceId: string, sha256: string): string => `${workspaceId}/${sha256}`;

  function sign(request: Pick<BucketRequest, 'method' | 'object' | 'query'>, at: number, expiresSec: number) {
    return signV4({ endpoint, bucket, at: new Date(at), expiresSec, ...request }, account);
  }

  async function send(method: 'GET' | 'PUT', object: string, more: RequestInit): Promise<Response> {
    const url = sign({ method, object }, now(), OWN_SEC);
    const response = await fetch(url, { method, redirect: 'error', ...more }).catch(() => undefined);
    if (response?.ok === true) return response;
    await response?.body?.cancel();
    const said = response === undefined ? 'does not answer' : `answered ${response.status}`;
    throw new ParleyError('UNAVAILABLE', `the bucket ${said}; try again`);
  }

  return {
    async keep(workspaceId, { path, sha256, bytes }) {
      await send('PUT', objectOf(workspaceId, sha256), {
        headers: { 'content-type': 'application/octet-stream', 'content-length': String(bytes) },
        body: Readable.toWeb(createReadStream(path)),
        duplex: 'half',
      });
    },
    async *read(workspaceId, sha256) {
      const { body } = await send('GET', objectOf(workspaceId, sha256), {});
      yield* checked(body ?? emptyBody(), sha256);
    },
    sign({ workspace_id, sha256, name, mime_type }, untilSec) {
      const query = {
        'response-content-disposition': attachment(name),
        'response-content-type': mime_type,
      };
      const seconds = Math.floor(now() / 1_000);
      const object = objectOf(workspace_id, sha256);
      return sign({ method: 'GET', object, query }, seconds * 1_000, untilSec - seconds);
    },
    named(text) {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      const own = `${new URL(endpoint).origin}/${bucket}/`;
      if (url === undefined || !text.startsWith(own))
        throw new ParleyError('VALIDATION_ERROR', 'artifact_uri: must be a URL that this hub has signed', {
          field: 'artifact_uri',
        });
      const {
        'X-Goog-Date': time = '',
        'X-Goog-Expires': expires = '',
        ...given
      } = Object.fromEntries(url.searchParams);
      const query = Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith('X-Goog-')));
      const object = decodeURIComponent(url.pathname.slice(bucket.length + 2));
      const at = Date.parse(time.replace(DATE, '$1-$2-$3T$4:$5:$6Z'));
      const seconds = Number(expires);
      const good = Number.isFinite(at) && seconds <= LIMITS.signed_url_sec && at + seconds * 1_000 >= now();
      if (!good || sign({ method: 'GET', object, query }, at, seconds) !== text)
        throw new ParleyError(
          'FORBIDDEN',
          'this URL is not one that the hub has signed, or not good any more',
        );
      const mark = object.lastIndexOf('/');
      return { workspace_id: object.slice(0, mark), sha256: object.slice(mark + 1) };
    },
  };
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

function readAccount(path: string): ServiceAccount {
  try {
    return Account.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    throw new ParleyError(
      'VALIDATION_ERROR',
      `artifacts.credentials: ${path === '' ? 'must name' : `${path} is not`} the JSON file of a service account`,
    );
  }
}
