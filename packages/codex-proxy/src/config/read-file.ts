import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';

import { ParleyError, errorText, fieldsOf, issueWords } from '@parley/protocol';
import { parse as parseToml } from 'smol-toml';

import { ALIASES, OLD_VALUES, type Role, RoleSchema, type SettingName, SETTINGS } from './schema.ts';

/** What one configuration file says of this program. */
export interface FileSettings {
  values: Map<SettingName, unknown>;
  roles: Map<string, Role>;
  /** Short names of mail addresses. */
  aliases: Map<string, string>;
  trustedRepos: string[];
  /** Names in our section that mean nothing to this program. */
  unknown: string[];
}

type Table = Record<string, unknown>;

const MOST_BYTES = 1_048_576;

/** Reads a file that may be missing; one that is there and wrong is an error, never half used. A repository's may be no link. */
export function readSettingsFile(path: string, whose: 'user' | 'repo'): FileSettings | undefined {
  if (!existsSync(path)) return undefined;
  const tree = parse(path, whose === 'repo' ? constants.O_NOFOLLOW : 0);
  const values = new Map<SettingName, unknown>();
  const unknown: string[] = [];
  const { default_team, identity } = asTable(tree['core']);
  if (default_team !== undefined) values.set('team', check(path, 'team', default_team));
  if (identity !== undefined) values.set('client_identity', check(path, 'client_identity', identity));
  const { roles, trusted_repos, hub, ...flat } = asTable(asTable(tree['plugins'])['atm-agent-mcp']);
  const ofHub = Object.entries(asTable(hub)).map(([key, value]) => [`hub_${key}`, value]);
  // It was made of a table.
  const section = { ...flat, ...(Object.fromEntries(ofHub) as Table) };
  // A setting under its own name is stronger than under an older one.
  const entries = Object.entries(section).toSorted(
    ([a], [b]) => Number(a in SETTINGS) - Number(b in SETTINGS),
  );
  for (const [given, value] of entries) {
    const key = ALIASES[given] ?? given;
    if (isSetting(key)) values.set(key, check(path, key, value));
    else unknown.push(given);
  }
  return {
    values,
    roles: readRoles(path, roles),
    aliases: readAliases(path, tree['aliases']),
    trustedRepos: readRepos(path, trusted_repos),
    unknown,
  };
}

/** Checks one value, whoever gave it. */
export function check(from: string, key: SettingName, value: unknown): unknown {
  const current = typeof value === 'string' ? (OLD_VALUES[key]?.[value] ?? value) : value;
  const parsed = SETTINGS[key].schema.safeParse(current);
  if (parsed.success) return parsed.data;
  throw wrong(from, key, issueWords(parsed.error.issues[0], current));
}

/** True for the name of a setting. */
export function isSetting(key: string): key is SettingName {
  return Object.hasOwn(SETTINGS, key);
}

function parse(path: string, more: number): Table {
  let file: number | undefined;
  try {
    // A pipe would wait for its writer.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | more);
    const found = fstatSync(file);
    if (!found.isFile()) throw new Error('is no plain file');
    if (found.size > MOST_BYTES) throw new Error('the file is too large');
    return parseToml(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ParleyError('VALIDATION_ERROR', `${path}: ${errorText(error)}`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readRoles(path: string, roles: unknown): Map<string, Role> {
  return new Map(
    Object.entries(asTable(roles)).map(([name, role]) => {
      const parsed = RoleSchema.safeParse(role);
      if (parsed.success) return [name, parsed.data];
      const [issue] = parsed.error.issues;
      throw wrong(path, ['roles', name, ...(issue?.path ?? [])].join('.'), issueWords(issue, role));
    }),
  );
}

function readAliases(path: string, aliases: unknown): Map<string, string> {
  return new Map(
    Object.entries(asTable(aliases)).map(([name, address]) => {
      if (typeof address === 'string' && address.trim() !== '') return [name, address.trim()];
      throw wrong(path, `aliases.${name}`, 'is no address');
    }),
  );
}

function readRepos(path: string, value: unknown): string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw wrong(path, 'trusted_repos', 'is no list of folders');
}

function wrong(from: string, key: string, message: string): ParleyError {
  return new ParleyError('VALIDATION_ERROR', `${from}: ${key}: ${message}`);
}

function asTable(value: unknown): Table {
  return fieldsOf(value);
}
