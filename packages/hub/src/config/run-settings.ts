import { existsSync } from 'node:fs';

import type { LoadedConfig, Origin } from './load.ts';
import { storeNote } from './store-note.ts';
import { CLIENT_VARIABLES, defaultFolder, usualConfigFile } from './default-paths.ts';
import { AUTH, TERMINAL, WORKSPACE } from './run-defaults.ts';
import type { Config } from './schema.ts';

type AuthSettings = Pick<Config['auth'], keyof typeof AUTH>;

/** As much of the configuration as a program at a terminal needs. */
export interface RunSettings extends Pick<LoadedConfig, 'origins' | 'file' | 'strangers'> {
  config: Pick<Config, 'data' | 'workspace' | 'terminal'> &
    Partial<Pick<Config, 'store' | 'usage'>> & { auth: AuthSettings };
}

/** The variables that are read here; any other setting is for the whole schema to judge. */
const VARIABLES: Readonly<Record<string, 'data' | 'workspace'>> = {
  PARLEY_DATA: 'data',
  PARLEY_WORKSPACE: 'workspace',
};
const LEAST_RECHECK_MS = 10;

/**
 * The settings of `parley run` without the schema of everything that can be set, which takes longer to load than all else
 * together. Undefined where there is a file, or anything is set that this does not know: then the schema decides.
 */
export function quickSettings(
  flags: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv,
): RunSettings | undefined {
  if (env['PARLEY_CONFIG'] !== undefined || existsSync(usualConfigFile(env))) return undefined;
  const origins = new Map<string, Origin>([['data', env['ATM_HOME'] ? 'env' : 'default']]);
  const places: Record<'data' | 'workspace', unknown> = { data: defaultFolder(env), workspace: WORKSPACE };
  const terminal: Record<string, number> = { ...TERMINAL };
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('PARLEY_') || CLIENT_VARIABLES.has(name) || value === undefined) continue;
    const place = Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined;
    if (place === undefined) return undefined;
    places[place] = value;
    origins.set(place, 'env');
  }
  for (const [path, value] of Object.entries(flags)) {
    if (value === undefined) continue;
    const [group, name = ''] = path.split('.');
    if (path === 'data' || path === 'workspace') places[path] = value;
    else if (group === 'terminal' && Object.hasOwn(TERMINAL, name) && Number.isInteger(value))
      // The schema of this setting lets only a number through.
      terminal[name] = value as number;
    else return undefined;
    origins.set(path, 'flag');
  }
  const { data, workspace } = places;
  if (typeof data !== 'string' || data === '' || typeof workspace !== 'string' || workspace === '')
    return undefined;
  // Where the folder is that of a node, the database it names is a setting too.
  if (storeNote(data) !== undefined) return undefined;
  if (Object.values(terminal).some((ms) => ms < 0) || (terminal['recheck_ms'] ?? 0) < LEAST_RECHECK_MS)
    return undefined;
  return {
    // Each of its settings was read above.
    config: { data, workspace, terminal: terminal as Config['terminal'], auth: AUTH },
    origins,
    file: undefined,
    strangers: [],
  };
}
