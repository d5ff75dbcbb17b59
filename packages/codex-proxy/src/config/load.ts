import { realpathSync } from 'node:fs';

import { ParleyError } from '@parley/protocol';

import { findPlaces, findRepoFile, type Places } from './places.ts';
import { check, type FileSettings, isSetting, readSettingsFile } from './read-file.ts';
import { ALIASES, type Role, type SettingName, type Setting, type Settings, SETTINGS } from './schema.ts';
import { type SettingPaths, settingPaths } from './setting-paths.ts';

/** Where a value came from. */
type Origin = 'default' | 'user' | 'repo' | 'env' | 'flag';

/** A value that a repository set and its user has not trusted it to. */
interface IgnoredValue {
  key: string;
  file: string;
}

export interface LoadedConfig {
  settings: Settings;
  /** Where the settings that are paths lead. */
  paths: SettingPaths;
  origins: Map<SettingName, Origin>;
  roles: Map<string, Role>;
  roleOrigins: Map<string, Origin>;
  /** Short names of mail addresses. */
  aliases: Map<string, string>;
  places: Places;
  files: { user: string | undefined; repo: string | undefined };
  repoRoot: string | undefined;
  trusted: boolean;
  ignored: IgnoredValue[];
  /** Names in our sections and variables that mean nothing to this program. */
  unknown: string[];
}

/** What the command line gives: settings by name, and the profiles. */
export interface Flags {
  settings: Partial<Record<SettingName, unknown>>;
  fast?: boolean | undefined;
  readonly?: boolean | undefined;
  trustRepo?: boolean | undefined;
}

const PREFIX = 'ATM_AGENT_MCP_';

/** Defaults < user's file < repository's file < environment < flags, setting by setting. */
export function loadConfig(flags: Flags, env: NodeJS.ProcessEnv, cwd: string): LoadedConfig {
  const places = findPlaces(env);
  const user = readSettingsFile(places.userFile, 'user');
  const repo = findRepoFile(cwd);
  const repoFile = repo === undefined ? undefined : readSettingsFile(repo.file, 'repo');
  const trusted = flags.trustRepo === true || (repo !== undefined && isTrusted(repo.root, user));

  const values = new Map<SettingName, unknown>();
  const origins = new Map<SettingName, Origin>();
  const set = (origin: Origin, entries: Iterable<[SettingName, unknown]>): void => {
    for (const [key, value] of entries) {
      values.set(key, value);
      origins.set(key, origin);
    }
  };
  set(
    'default',
    entriesOf(SETTINGS).map(([key, setting]) => [key, setting.fallback]),
  );
  set('user', user?.values ?? []);
  const allowed = allowedOf(repoFile, trusted);
  set('repo', allowed.values);
  set('env', fromEnvironment(env));
  set('flag', fromFlags(flags, values));

  const roles = new Map([...(user?.roles ?? []), ...allowed.roles]);
  const roleOrigins = new Map<string, Origin>([
    ...[...(user?.roles.keys() ?? [])].map((name) => [name, 'user'] as const),
    ...[...allowed.roles.keys()].map((name) => [name, 'repo'] as const),
  ]);
  // It holds the default of every setting.
  const settings = Object.fromEntries(values) as Settings;
  const folders = { user: places.atm, repo: repo?.root ?? cwd, default: cwd, env: cwd, flag: cwd };
  return {
    settings,
    paths: settingPaths(settings, (key) => folders[origins.get(key) ?? 'default']),
    origins,
    roles,
    roleOrigins,
    // Whose mail goes where is the user's own affair, unless the repository is trusted.
    aliases: new Map([...(user?.aliases ?? []), ...((trusted && repoFile?.aliases) || [])]),
    places,
    files: { user: user && places.userFile, repo: repo?.file },
    repoRoot: repo?.root,
    trusted,
    ignored: allowed.refused.map((key) => ({ key, file: repo?.file ?? '' })),
    unknown: [...(user?.unknown ?? []), ...(repoFile?.unknown ?? []), ...strangers(env)],
  };
}

function settingOf(key: SettingName): Setting {
  return SETTINGS[key];
}

/** The variables that set a value, the strongest first. */
export function variablesOf(key: SettingName): string[] {
  const names = [key, ...Object.keys(ALIASES).filter((alias) => ALIASES[alias] === key)];
  return [...names.map((one) => PREFIX + one.toUpperCase()), ...(settingOf(key).variables ?? [])];
}

function isTrusted(root: string, user: FileSettings | undefined): boolean {
  return (user?.trustedRepos ?? []).some((folder) => {
    try {
      return realpathSync(folder) === root;
    } catch {
      return false;
    }
  });
}

function allowedOf(file: FileSettings | undefined, trusted: boolean) {
  const values: [SettingName, unknown][] = [];
  const roles = new Map<string, Role>();
  const refused: string[] = [];
  for (const [key, value] of file?.values ?? []) {
    const { needsTrust } = settingOf(key);
    if (!trusted && needsTrust?.(value) === true) refused.push(key);
    else values.push([key, value]);
  }
  for (const [name, role] of file?.roles ?? []) {
    if (!trusted && SETTINGS.sandbox.needsTrust?.(role.sandbox) === true) refused.push(`roles.${name}`);
    else roles.set(name, role);
  }
  return { values, roles, refused };
}

function fromEnvironment(env: NodeJS.ProcessEnv): [SettingName, unknown][] {
  return entriesOf(SETTINGS).flatMap(([key]): [SettingName, unknown][] => {
    const variable = variablesOf(key).find((name) => (env[name] ?? '').trim() !== '');
    if (variable === undefined) return [];
    return [[key, check(variable, key, fromText(key, env[variable] ?? ''))]];
  });
}

function fromFlags(flags: Flags, values: ReadonlyMap<SettingName, unknown>): [SettingName, unknown][] {
  const found: [SettingName, unknown][] = [];
  for (const [given, value] of Object.entries(flags.settings)) {
    if (value === undefined) continue;
    const key = ALIASES[given] ?? given;
    if (!isSetting(key)) throw new ParleyError('VALIDATION_ERROR', `there is no setting ${key}`);
    found.push([key, check('command line', key, typeof value === 'string' ? fromText(key, value) : value)]);
  }
  const given = new Set(found.map(([key]) => key));
  if (flags.fast === true) {
    const fast = found.find(([key]) => key === 'fast_model')?.[1] ?? values.get('fast_model');
    if (fast === null || fast === undefined)
      throw new ParleyError('VALIDATION_ERROR', '--fast needs the setting fast_model');
    // A model that somebody has named stays, wherever that was.
    if (!given.has('model') && values.get('model') === null) found.push(['model', fast]);
  }
  if (flags.readonly === true) {
    if (given.has('sandbox'))
      throw new ParleyError('VALIDATION_ERROR', '--readonly and --sandbox exclude each other');
    found.push(['sandbox', 'read-only']);
  }
  return found;
}

function fromText(key: SettingName, text: string): unknown {
  const { fallback } = SETTINGS[key];
  const plain = text.trim();
  if (typeof fallback === 'number' && /^-?\d+(\.\d+)?$/.test(plain)) return Number(plain);
  if (typeof fallback === 'object' && fallback !== null) return fromJson(plain);
  if (typeof fallback === 'boolean' && (plain === 'true' || plain === 'false')) return plain === 'true';
  return plain;
}

/** A table on the command line or in a variable is written as JSON. */
function fromJson(plain: string): unknown {
  try {
    return JSON.parse(plain);
  } catch {
    return plain;
  }
}

function strangers(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env).filter(
    (name) => name.startsWith(PREFIX) && !isKnown(name.slice(PREFIX.length).toLowerCase()),
  );
}

function isKnown(name: string): boolean {
  return isSetting(name) || Object.hasOwn(ALIASES, name);
}

function entriesOf<T extends object>(object: T): [keyof T & SettingName, T[keyof T]][] {
  // They are tables by names of settings.
  return Object.entries(object) as [keyof T & SettingName, T[keyof T]][];
}
