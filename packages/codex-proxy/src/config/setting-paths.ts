import { resolve } from 'node:path';

import type { Settings } from './schema.ts';

/** The settings that are paths. */
const KEYS = [
  'codex_bin',
  'base_prompt_file',
  'extra_instructions_file',
  'hub_data',
  'hub_token_file',
] as const;

type PathKey = (typeof KEYS)[number];

export type SettingPaths = { [K in PathKey]: Settings[K] };

/** Each path is meant from where it was written: by the user's file from its folder, never from a repository that did not write it. */
export function settingPaths(settings: Settings, folderOf: (key: PathKey) => string): SettingPaths {
  // Each of these settings is a path.
  const given = settings as Record<PathKey, string | null>;
  const found = KEYS.map((key) => {
    const path = given[key];
    // A program without a folder is looked for in PATH.
    const isName = path === null || (key === 'codex_bin' && !/[\\/]/.test(path));
    return [key, isName ? path : resolve(folderOf(key), path)];
  });
  // Each of them got its path above.
  return Object.fromEntries(found) as SettingPaths;
}
