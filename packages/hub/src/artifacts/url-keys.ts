import { randomBytes } from 'node:crypto';

import type { StateFiles } from '@parley/core';
import { ParleyError } from '@parley/protocol';
import * as z from 'zod';

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

/** The secrets that sign URLs: made when there are none, replaced in time, durable and shared by all nodes. */
export function openUrlKeys(stateFiles: StateFiles, now: () => number) {
  let seen: { revision: string; keys: UrlKey[] } | undefined;
  const keys = (): UrlKey[] => {
    const { revision, text } = stateFiles.look(URL_KEY_FILE);
    if (seen?.revision !== revision) seen = { revision, keys: readKeys(text) };
    return seen.keys;
  };
  const goodOf = (some: readonly UrlKey[]): UrlKey | undefined => {
    const last = some.at(-1);
    // One from the future was made under a wrong clock: it would outlive its age.
    return last !== undefined && Math.abs(now() - Date.parse(last.created_at)) < ROTATE_MS ? last : undefined;
  };
  keys();

  return {
    async current(): Promise<UrlKey> {
      const good = goodOf(keys());
      if (good !== undefined) return good;
      const fresh = {
        kid: randomBytes(6).toString('base64url'),
        secret: randomBytes(32).toString('base64url'),
        created_at: new Date(now()).toISOString(),
      };
      await stateFiles.change(URL_KEY_FILE, (text) => {
        const there = readKeys(text);
        if (goodOf(there) !== undefined) return undefined;
        return `${JSON.stringify({ keys: [...there, fresh].slice(-KEPT) }, null, 2)}\n`;
      });
      return keys().at(-1) ?? fresh;
    },
    find: (kid: string): UrlKey | undefined => keys().find((key) => key.kid === kid),
  };
}

function readKeys(text: string | undefined): UrlKey[] {
  if (text === undefined) return [];
  try {
    return KeyFile.parse(JSON.parse(text)).keys;
  } catch {
    throw new ParleyError(
      'UNAVAILABLE',
      `${URL_KEY_FILE} cannot be read; restore it from a backup or remove it`,
    );
  }
}
