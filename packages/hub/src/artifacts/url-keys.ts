import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import { ParleyError } from '@parley/protocol';
import { z } from 'zod';

import { readPrivateFile, writePrivateFile } from '../data-folder.ts';

/** The file of the secrets that sign URLs. */
export const URL_KEY_FILE = 'artifact-keys.json';

const KeyFile = z.object({
  keys: z.array(z.object({ kid: z.string(), secret: z.string(), created_at: z.iso.datetime() })),
});
type UrlKey = z.infer<typeof KeyFile>['keys'][number];

/** A secret is replaced at this age. */
const ROTATE_MS = 58 * 86_400_000;

/** How many are kept: no URL outlives the secret before the current one. */
const KEPT = 2;

/** The secrets that sign URLs: made when there are none, replaced in time, durable in the data folder. */
export function openUrlKeys(data: string, now: () => number) {
  const path = join(data, URL_KEY_FILE);
  let keys = readKeys(path);

  return {
    current(): UrlKey {
      const last = keys.at(-1);
      // One from the future was made under a wrong clock: it would outlive its age.
      if (last !== undefined && Math.abs(now() - Date.parse(last.created_at)) < ROTATE_MS) return last;
      const fresh = {
        kid: randomBytes(6).toString('base64url'),
        secret: randomBytes(32).toString('base64url'),
        created_at: new Date(now()).toISOString(),
      };
      keys = [...keys, fresh].slice(-KEPT);
      writePrivateFile(path, `${JSON.stringify({ keys }, null, 2)}\n`);
      return fresh;
    },
    find: (kid: string): UrlKey | undefined => keys.find((key) => key.kid === kid),
  };
}

function readKeys(path: string): UrlKey[] {
  const text = readPrivateFile(path);
  if (text === undefined) return [];
  try {
    return KeyFile.parse(JSON.parse(text)).keys;
  } catch {
    throw new ParleyError('UNAVAILABLE', `${path} cannot be read; restore it from a backup or remove it`);
  }
}
