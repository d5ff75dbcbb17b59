import { fieldsOf } from './read-unknown.ts';
import * as z from 'zod';

type Json = Record<string, unknown>;

/** More than so many are not told. */
const TOLD = 10;
const LONGEST_NAME = 64;

/** The fields of an input, by their paths, that its schema has dropped: what was sent and means nothing here. */
export function unknownFields(sent: unknown, taken: unknown): string[] {
  const found: string[] = [];
  collect(sent, taken, '', found);
  return found;
}

/** This is for every call: it makes nothing where there is nothing to tell. */
function collect(sent: unknown, taken: unknown, path: string, found: string[]): void {
  if (sent === taken || sent === null || taken === null) return;
  if (typeof sent !== 'object' || typeof taken !== 'object') return;
  if (Array.isArray(sent) !== Array.isArray(taken)) return;
  // Both are objects or lists, which are read by their names alike.
  const [from, to] = [sent as Json, taken as Json];
  for (const name of Object.keys(from)) {
    const value = from[name];
    if (value === undefined || value === to[name]) continue;
    const place = `${path}${name.slice(0, LONGEST_NAME)}`;
    if (!Object.hasOwn(to, name)) found.push(place);
    else collect(value, to[name], `${place}.`, found);
  }
}

const pathsBySchema = new WeakMap<z.ZodType, readonly string[]>();

/** A sentence for each unknown field, with the known one that it looks most like. */
export function tellUnknown(schema: z.ZodType, fields: readonly string[]): string[] {
  return fields.slice(0, TOLD).map((field) => {
    const meant = nearest(spelt(lastPart(field)), pathsOf(schema));
    return `${field}: is not known here${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  });
}

function pathsOf(schema: z.ZodType): readonly string[] {
  let paths = pathsBySchema.get(schema);
  if (paths === undefined) {
    const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' });
    pathsBySchema.set(schema, (paths = [...new Set(pathsIn(json, ''))]));
  }
  return paths;
}

function pathsIn(value: unknown, prefix: string): string[] {
  if (Array.isArray(value)) return value.flatMap((inner) => pathsIn(inner, prefix));
  const { properties: own, ...rest } = fieldsOf(value);
  const properties = fieldsOf(own);
  return [
    ...Object.keys(properties).map((name) => `${prefix}${name}`),
    ...Object.entries(properties).flatMap(([name, inner]) => pathsIn(inner, `${prefix}${name}.`)),
    ...Object.values(rest).flatMap((inner) => pathsIn(inner, prefix)),
  ];
}

/** What a word was probably to be: the same in another spelling, a slip of a few letters, or more or less of it. */
function nearest(word: string, paths: readonly string[]): string | undefined {
  const slips = Math.max(1, Math.floor(word.length / 3));
  const [slip] = paths
    .map((path) => ({ path, far: distance(word, spelt(lastPart(path))) }))
    .filter(({ far }) => far <= slips)
    .toSorted((a, b) => a.far - b.far);
  if (slip !== undefined || word.length < 3) return slip?.path;
  const part = (path: string): string => spelt(lastPart(path));
  return (
    paths.find((path) => part(path).startsWith(word) || word.startsWith(part(path))) ??
    paths.find((path) => part(path).includes(word))
  );
}

function lastPart(path: string): string {
  return path.split('.').at(-1) ?? '';
}

function spelt(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase();
}

/** How many letters must be put in, taken out or changed to make one word of the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of a.split('').entries()) {
    const next = [i + 1];
    for (const [j, other] of b.split('').entries())
      next.push(
        Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}
