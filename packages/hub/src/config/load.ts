import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { ParleyError } from '@parley/protocol';
import { parse as parseToml } from 'smol-toml';
import { z } from 'zod';

import { type Config, ConfigSchema } from './schema.ts';

/** Where a value came from, for `parley config`. */
type Origin = 'default' | 'file' | 'env' | 'flag';

export interface LoadedConfig {
  config: Config;
  origins: Map<string, Origin>;
  file: string | undefined;
  /** Variables that look like ours and set nothing: a misspelling, or someone else's. */
  strangers: string[];
}

/** One setting as the reference tells it. */
export interface Leaf {
  path: string;
  type: string | undefined;
  description: string;
  fallback: unknown;
}

type Tree = Record<string, unknown>;

/** Names that begin with PARLEY_ but speak to the command line, not to the configuration. */
const CLIENT_VARIABLES = new Set([
  'PARLEY_TOKEN',
  'PARLEY_TOKEN_FILE',
  'PARLEY_URL',
  'PARLEY_AGENT',
  'PARLEY_SESSION',
  'PARLEY_ROLE',
  'PARLEY_SUPERVISED',
  'PARLEY_CONFIG',
]);

/** Reads file, environment and flags into one checked configuration; an unknown key is an error. */
export function loadConfig(flags: Record<string, unknown>, env: NodeJS.ProcessEnv): LoadedConfig {
  const leaves = listLeaves();
  const origins = new Map<string, Origin>(leaves.map(({ path }) => [path, 'default']));
  const tree: Tree = {};
  const set = (path: string, value: unknown, origin: Origin): void => {
    put(tree, path, value);
    origins.set(path, origin);
  };
  set('data', defaultFolder(env), env['ATM_HOME'] ? 'env' : 'default');
  const file = configFile(env);
  for (const [path, value] of Object.entries(file === undefined ? {} : readFile(file)))
    set(path, value, 'file');
  const { values, strangers } = readEnvironment(leaves, env);
  for (const [path, value] of values) set(path, value, 'env');
  for (const [path, value] of Object.entries(flags))
    if (value !== undefined) set(path, fromText(leaves, path, value), 'flag');
  const parsed = ConfigSchema.safeParse(tree);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0] ?? { path: [], message: 'is not valid' };
    throw new ParleyError(
      'VALIDATION_ERROR',
      `configuration: ${path.join('.') || 'value'}: ${message} (see \`parley config --doc\`)`,
    );
  }
  return { config: parsed.data, origins, file, strangers };
}

/** Every single setting with its type, default and sentence. */
export function listLeaves(): Leaf[] {
  const schema = z.toJSONSchema(ConfigSchema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  return leavesOf(schema, '');
}

interface JsonSchema {
  type?: string;
  properties?: Record<string, JsonSchema>;
  description?: string;
  default?: unknown;
  enum?: unknown[];
}

function leavesOf(schema: JsonSchema, prefix: string): Leaf[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    if (child.properties !== undefined) return leavesOf(child, path);
    return [{ path, type: child.type, description: child.description ?? '', fallback: child.default }];
  });
}

/** The variable that sets a path: limits.request_bytes is PARLEY_LIMITS_REQUEST_BYTES. */
export function variableOf(path: string): string {
  return `PARLEY_${path.replaceAll('.', '_').toUpperCase()}`;
}

function readEnvironment(leaves: readonly Leaf[], env: NodeJS.ProcessEnv) {
  const pathByVariable = new Map(leaves.map(({ path }) => [variableOf(path), path]));
  const values: [path: string, value: unknown][] = [];
  const strangers: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('PARLEY_') || CLIENT_VARIABLES.has(name) || value === undefined) continue;
    const path = pathByVariable.get(name);
    if (path === undefined) strangers.push(name);
    else values.push([path, fromText(leaves, path, value)]);
  }
  return { values, strangers };
}

function fromText(leaves: readonly Leaf[], path: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const type = leaves.find((leaf) => leaf.path === path)?.type;
  if ((type === 'integer' || type === 'number') && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  if (type === 'array')
    return value.trimStart().startsWith('[')
      ? parseList(path, value)
      : value.split(',').filter((item) => item !== '');
  return value;
}

function parseList(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ParleyError('VALIDATION_ERROR', `configuration: ${path}: is no JSON list`);
  }
}

function configFile(env: NodeJS.ProcessEnv): string | undefined {
  const named = env['PARLEY_CONFIG'];
  if (named !== undefined) {
    if (!existsSync(named))
      throw new ParleyError('NOT_FOUND', `the configuration file ${named} is not there`);
    return named;
  }
  const usual = usualConfigFile(env);
  return existsSync(usual) ? usual : undefined;
}

/** Where the configuration file is looked for when none is named. */
export function usualConfigFile(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'parley', 'config.toml');
}

function readFile(path: string): Tree {
  try {
    return flatten(parseToml(readFileSync(path, 'utf8')), '');
  } catch (error) {
    throw new ParleyError(
      'VALIDATION_ERROR',
      `${path}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function flatten(tree: Tree, prefix: string): Tree {
  return Object.fromEntries(
    Object.entries(tree).flatMap(([name, value]) => {
      const path = prefix === '' ? name : `${prefix}.${name}`;
      const isTable = value !== null && typeof value === 'object' && !Array.isArray(value);
      return isTable ? Object.entries(flatten(value as Tree, path)) : [[path, value]];
    }),
  );
}

function put(tree: Tree, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() ?? path;
  let at = tree;
  for (const name of names) {
    if (!Object.hasOwn(at, name)) at[name] = {};
    if (at[name] === null || typeof at[name] !== 'object')
      throw new ParleyError('VALIDATION_ERROR', `configuration: ${path}: ${name} is a single value`);
    at = at[name] as Tree;
  }
  at[last] = value;
}

function defaultFolder(env: NodeJS.ProcessEnv): string {
  return env['ATM_HOME'] || join(env['XDG_DATA_HOME'] ?? join(homedir(), '.local', 'share'), 'parley');
}
