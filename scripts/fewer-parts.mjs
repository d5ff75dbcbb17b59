/**
 * esbuild makes a part of every set of entries that reach the same modules: hundreds, most of them of a few lines. Node
 * opens all parts of an import at once, and each costs time. So small parts are joined where that costs nobody more
 * than it saves: an entry then imports what it had no need of.
 */
import { resolve } from 'node:path';

import { build } from 'esbuild';

import { directImports } from './direct-imports.mjs';

/** What opening one more file costs, in bytes of program that could be read instead. */
const FILE = 4_096;
/** By how much of its length an entry may load more than it needs. */
const SPARE = 0.2;

/** The same bundle in fewer parts. */
export async function inFewerParts(bundle) {
  const { metafile } = await build({ ...bundle, sourcemap: false, metafile: true, write: false });
  const besides = new Map(
    [...planParts(metafile)].map(([path, paths]) => [resolve(path), paths.map((one) => resolve(one))]),
  );
  return { ...bundle, plugins: [directImports('packages', besides)] };
}

/** By the path of an entry, the modules that it imports beside its own. */
export function planParts({ inputs, outputs }) {
  const entries = Object.values(outputs).flatMap(({ entryPoint }) => entryPoint ?? []);
  const modules = readModules(inputs, outputs, entries);
  const world = { entries, modules };
  let parts = partsOf(world);
  const most = entries.map((_, entry) => loadOf(parts, entry) * (1 + SPARE));
  const packages = entries.map((_, entry) => packagesOf(modules, entry));
  for (const tried = new Set(); ;) {
    const small = parts.find(({ key }) => !tried.has(key));
    if (small === undefined) break;
    tried.add(small.key);
    const partner = bestPartner(small, parts, { ...world, most, packages });
    if (partner === undefined) continue;
    for (const path of [...small.paths, ...partner.paths])
      for (const entry of [...small.entries, ...partner.entries]) reach(modules, path, entry);
    parts = partsOf(world);
  }
  return new Map(entries.map((path, entry) => [path, furtherOf(path, entry, world)]));
}

/** Each module with its length in the bundle, what it imports and which entries load it. */
function readModules(inputs, outputs, entries) {
  const modules = new Map();
  for (const [path, { imports }] of Object.entries(inputs)) {
    const needed = imports.filter((one) => one.kind !== 'dynamic-import' && one.path in inputs);
    modules.set(path, { imports: needed.map((one) => one.path), entries: new Set() });
  }
  const partByEntry = new Map(Object.entries(outputs).map(([name, { entryPoint }]) => [entryPoint, name]));
  for (const [entry, path] of entries.entries()) {
    const parts = new Set([partByEntry.get(path)]);
    for (const part of parts)
      for (const one of outputs[part].imports)
        if (one.kind === 'import-statement' && one.path in outputs) parts.add(one.path);
    for (const part of parts)
      for (const [name, { bytesInOutput }] of Object.entries(outputs[part].inputs)) {
        modules.get(name).bytes = bytesInOutput;
        modules.get(name).entries.add(entry);
      }
  }
  return modules;
}

/** Whoever reaches a module reaches what it imports. */
function reach(modules, path, entry) {
  const module = modules.get(path);
  if (module.entries.has(entry)) return;
  module.entries.add(entry);
  for (const next of module.imports) reach(modules, next, entry);
}

/** The parts as esbuild makes them, the smallest first. */
function partsOf({ modules }) {
  const partByKey = new Map();
  for (const [path, { bytes, entries }] of modules) {
    if (bytes === undefined || entries.size === 0) continue;
    const key = [...entries].toSorted((a, b) => a - b).join();
    const part = partByKey.get(key) ?? { key, entries, bytes: 0, paths: [] };
    part.bytes += bytes;
    part.paths.push(path);
    partByKey.set(key, part);
  }
  return [...partByKey.values()].toSorted((a, b) => a.bytes - b.bytes);
}

function loadOf(parts, entry) {
  return parts.reduce((sum, part) => sum + (part.entries.has(entry) ? part.bytes : 0), 0);
}

/** The part with which this one is best joined, where that is worth it. */
function bestPartner(part, parts, { entries, modules, most, packages }) {
  const partByPath = new Map(parts.flatMap((one) => one.paths.map((path) => [path, one])));
  const below = new Map();
  const loads = entries.map((_, entry) => loadOf(parts, entry));
  let best;
  let least = 0;
  for (const other of parts) {
    if (other === part) continue;
    const cost = addedBy(part, other) + addedBy(other, part) - FILE * shared(part, other);
    if (cost < least) [best, least] = [other, cost];
  }
  return best;

  /** What it costs those who load the one to load the other as well; no price is right for whom it is too much. */
  function addedBy(one, other) {
    let sum = 0;
    for (const entry of one.entries) {
      if (other.entries.has(entry)) continue;
      if (!isOurs(entries[entry])) return Infinity;
      let bytes = 0;
      for (const each of partsBelow(other)) {
        if (each.entries.has(entry)) continue;
        if (each.paths.some((path) => !packages[entry].has(packageOf(path)))) return Infinity;
        bytes += each.bytes;
        if (each !== other) sum += FILE;
      }
      if (loads[entry] + bytes > most[entry]) return Infinity;
      sum += bytes;
    }
    return sum;
  }

  function shared(one, other) {
    return [...one.entries].filter((entry) => other.entries.has(entry)).length;
  }

  /** A part and all that it imports. */
  function partsBelow(top) {
    const found =
      below.get(top) ??
      new Set([...importedBy(modules, top.paths)].flatMap((path) => partByPath.get(path) ?? []));
    below.set(top, found);
    return found;
  }
}

/** What an entry is to import beside its own. */
function furtherOf(path, entry, { modules }) {
  const own = importedBy(modules, [path]);
  return [...modules].flatMap(([one, { entries }]) =>
    isOurs(one) && entries.has(entry) && !own.has(one) ? [one] : [],
  );
}

function importedBy(modules, paths) {
  const found = new Set(paths);
  for (const one of found) for (const next of modules.get(one).imports) found.add(next);
  return found;
}

/** The packages of which an entry needs something. */
function packagesOf(modules, entry) {
  const needed = [...modules].filter(([, { bytes, entries }]) => bytes !== undefined && entries.has(entry));
  return new Set(needed.map(([path]) => packageOf(path)));
}

function packageOf(path) {
  return /^packages\/[^/]+|.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path;
}

function isOurs(path) {
  return path.startsWith('packages/');
}
