import { existsSync, readFileSync } from 'node:fs';

import { errorCode, errorText, issueWords, ParleyError, rangesOf } from '@parley/protocol';
import { parse as parseToml } from 'smol-toml';
import * as z from 'zod';

import { systemWords } from '../system-words.ts';
import { CLIENT_VARIABLES, defaultFolder, usualConfigFile } from './default-paths.ts';
import { type Config, ConfigSchema } from './schema.ts';
import { storeNote } from './store-note.ts';

/** Where a value came from, for `parley config`. */
export type Origin = 'default' | 'folder' | 'file' | 'env' | 'flag';

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
  /** The values it takes, in words; empty where any of its type will do. */
  allowed: string;
  description: string;
  fallback: unknown;
}

type Tree = Record<string, unknown>;

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
  const { data } = tree;
  const noted = origins.get('store') === 'default' && typeof data === 'string' ? storeNote(data) : undefined;
  if (noted !== undefined) set('store', noted, 'folder');
  // Read once: code made for a second time would be in vain.
  const parsed = ConfigSchema.safeParse(tree, { jitless: true });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.join('.') ?? '';
    const wrong =
      issue?.code === 'unrecognized_keys'
        ? `there is no setting ${[...issue.path, issue.keys[0]].join('.')}`
        : `${place}: ${issueWords(issue, tree, rangesOf(ConfigSchema))}`;
    throw new ParleyError('VALIDATION_ERROR', `configuration: ${wrong} (see \`parley config --doc\`)`);
  }
  return { config: parsed.data, origins, file, strangers };
}

/** Every single setting with its type, default and sentence. */
export function listLeaves(): Leaf[] {
  return leavesOf(ConfigSchema.shape, '');
}

// Read from the schema itself: every command does this first, and a JSON Schema of it all would take longer than the rest.
function leavesOf(shape: Readonly<Record<string, z.ZodType>>, prefix: string): Leaf[] {
  return Object.entries(shape).flatMap(([name, schema]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const { inner, fallback, description } = unwrap(schema);
    if (inner instanceof z.ZodObject) return leavesOf(inner.shape, path);
    return [{ path, type: typeOf(inner), allowed: allowedBy(inner), description, fallback }];
  });
}

/** What a default, or the leave to be left out, is put around. */
function unwrap(schema: z.ZodType): { inner: z.ZodType; fallback: unknown; description: string } {
  let inner = schema;
  let fallback: unknown;
  let description = inner.description;
  while (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault || inner instanceof z.ZodOptional) {
    if (!(inner instanceof z.ZodOptional)) fallback ??= inner.def.defaultValue;
    // zod types it by its core, and it is one of these.
    inner = inner.unwrap() as z.ZodType;
    description ??= inner.description;
  }
  return { inner, fallback, description: description ?? '' };
}

function typeOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodNumber) return schema.isInt ? 'integer' : 'number';
  return schema instanceof z.ZodEnum ? 'string' : schema.type;
}

/** The values that a setting takes, in words; nothing where any of its type will do. */
function allowedBy(schema: z.ZodType): string {
  if (schema instanceof z.ZodEnum) return schema.options.map((value) => JSON.stringify(value)).join(', ');
  if (schema instanceof z.ZodBoolean) return 'true, false';
  if (!(schema instanceof z.ZodNumber)) return '';
  const { minValue, maxValue } = schema;
  const from = minValue === null || minValue <= Number.MIN_SAFE_INTEGER ? undefined : minValue;
  const to = maxValue === null || maxValue >= Number.MAX_SAFE_INTEGER ? undefined : maxValue;
  if (from !== undefined && to !== undefined) return `${from} to ${to}`;
  if (from !== undefined) return `${from} or more`;
  return to === undefined ? '' : `at most ${to}`;
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

function readFile(path: string): Tree {
  try {
    return flatten(parseToml(readFileSync(path, 'utf8')), '');
  } catch (error) {
    throw new ParleyError(
      'VALIDATION_ERROR',
      errorCode(error) === undefined ? `${path}: ${errorText(error)}` : systemWords(error, path),
    );
  }
}

function flatten(tree: Tree, prefix: string): Tree {
  return Object.fromEntries(
    Object.entries(tree).flatMap(([name, value]) => {
      const path = prefix === '' ? name : `${prefix}.${name}`;
      const isTable = value !== null && typeof value === 'object' && !Array.isArray(value);
      // A table was looked for just now.
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
    // It was made above where it was not there.
    at = at[name] as Tree;
  }
  at[last] = value;
}
