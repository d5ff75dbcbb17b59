import type { Artifacts, StateFiles } from '@parley/core';
import { ParleyError } from '@parley/protocol';

import type { Config } from '../config/schema.ts';
import { openBucket } from './bucket.ts';
import { type LocalBlobs, openLocalBlobs } from './local-blobs.ts';
import { ARTIFACT_PATH, createUrlSigner, type Named } from './signed-url.ts';
import { openStage, tooLarge } from './stage.ts';
import { openUrlKeys } from './url-keys.ts';

/** The artifacts as the hub composes them, with what its own face needs to serve them. */
export interface OpenedArtifacts extends Artifacts {
  /** The bytes behind the hub's own URLs, which lead to the data folder also where there is a bucket now. */
  local: LocalBlobs;
  verify(path: string, query: string): Promise<Named>;
}

interface ArtifactOptions {
  data: string;
  stateFiles: StateFiles;
  settings: Config['artifacts'];
  now: () => number;
  /** Where callers find the hub. */
  address: () => string;
  /** Others have the same record, and data folders of their own. */
  isOneOfSeveral: boolean;
}

/** Opens the store of artifacts: in the data folder, or in a bucket where one is configured. */
export function openArtifacts(options: ArtifactOptions): OpenedArtifacts {
  const { data, stateFiles, settings, now, address } = options;
  const stage = openStage(data, settings.max_bytes);
  const signer = createUrlSigner(openUrlKeys(stateFiles, now), now);
  const bucket = settings.bucket === '' ? undefined : openBucket(settings, now);
  const local = openLocalBlobs(data, now, options.isOneOfSeveral);
  const blobs = bucket ?? local;
  const base = (): string => new URL(address()).origin;

  return {
    local,
    types: settings.types,
    async verify(path, query) {
      // Another node may have signed it just now with a secret that it made.
      await stateFiles.fresh();
      return signer.verify(path, query);
    },
    keep: (workspaceId, body, announced) =>
      stage(body, announced, async (staged) => {
        await blobs.keep(workspaceId, staged);
        return { sha256: staged.sha256, bytes: staged.bytes };
      }),
    async read(workspaceId, sha256, maxBytes) {
      const pieces: Uint8Array[] = [];
      let bytes = 0;
      for await (const piece of blobs.read(workspaceId, sha256)) {
        if ((bytes += piece.length) > maxBytes) throw tooLarge(maxBytes);
        pieces.push(piece);
      }
      return Buffer.concat(pieces);
    },
    sign: async (artifact, untilSec) =>
      bucket === undefined
        ? base() + (await signer.sign(artifact, untilSec))
        : bucket.sign(artifact, untilSec),
    named(url) {
      if (bucket !== undefined) return bucket.named(url);
      // Nothing is ever fetched: a URL that is not ours is only a text.
      const own = `${base()}${ARTIFACT_PATH}`;
      const mark = url.indexOf('?');
      if (!url.startsWith(own) || mark < 0)
        throw new ParleyError('VALIDATION_ERROR', 'artifact_uri: must be a URL that this hub has signed', {
          field: 'artifact_uri',
        });
      return signer.verify(url.slice(base().length, mark), url.slice(mark + 1));
    },
  };
}
