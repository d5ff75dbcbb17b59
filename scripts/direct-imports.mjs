/** Lets bundled files import from the module that has a thing instead of from the package's index. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const FROM_PACKAGE = /^(import|export) \{([^}]*)\} from '@parley\/([\w-]+)';/gm;
const RE_EXPORTED = /^export (\*|\{[^}]*\}) from '([^']+)';/gm;
const DECLARED = /^export (?:abstract |async )?(?:class|const|function\*?|let) (\w+)/gm;

/**
 * An esbuild plugin. A bundle in parts gives everything behind an index to whoever imports one name from it: each
 * command would load every contract. So the index is looked through, name by name. `besides` are the modules that an
 * entry imports so that there are fewer parts.
 */
export function directImports(folder = 'packages', besides = new Map()) {
  const sources = readSources(folder);
  return {
    name: 'direct-imports',
    setup(build) {
      const kept = new Set([...besides.values()].flat());
      // What is imported for nothing but its place would be left out, were it without effect.
      if (kept.size > 0)
        build.onResolve({ filter: /^[./].*\.tsx?$/ }, ({ path, resolveDir }) => {
          const found = resolve(resolveDir, path);
          return kept.has(found) ? { path: found, sideEffects: true } : undefined;
        });
      build.onLoad({ filter: /[\\/]packages[\\/][\w-]+[\\/]src[\\/].*\.tsx?$/ }, ({ path }) => ({
        contents: importDirectly(readFileSync(path, 'utf8'), sources) + importsOf(besides.get(path)),
        loader: path.endsWith('x') ? 'tsx' : 'ts',
      }));
    },
  };
}

function importsOf(paths = []) {
  return paths.map((path) => `import ${JSON.stringify(path)};\n`).join('');
}

/** The same text with its imports from packages made direct; every line stays where it is. */
export function importDirectly(text, sources) {
  return text.replaceAll(FROM_PACKAGE, (statement, verb, list, name) => {
    const direct = valuesIn(list).map(([from, to]) => {
      const { module, original } = sources.get(name)?.get(from) ?? {};
      if (module === undefined) throw new Error(`@parley/${name} does not export ${from}`);
      return `${verb} { ${original} as ${to} } from '${module}';`;
    });
    return direct.join(' ') + '\n'.repeat(statement.split('\n').length - 1);
  });
}

/** By package, by exported name: the module that has it, and its name there. */
export function readSources(folder) {
  const indexes = readdirSync(folder).map((name) => [name, resolve(folder, name, 'src/index.ts')]);
  const sources = new Map();
  for (const [name, path] of indexes) if (existsSync(path)) sources.set(name, readIndex(path));
  // What an index passes on from another package is where that one has it.
  for (const sourceByName of sources.values())
    for (const [name, { module, original }] of sourceByName)
      if (module.startsWith('@parley/'))
        sourceByName.set(name, sources.get(module.slice('@parley/'.length)).get(original));
  return sources;
}

function readIndex(path) {
  const sourceByName = new Map();
  for (const [, what, from] of readFileSync(path, 'utf8').matchAll(RE_EXPORTED)) {
    const module = from.startsWith('.') ? join(dirname(path), from) : from;
    const names = what === '*' ? declaredIn(module) : valuesIn(what.slice(1, -1));
    for (const [original, name] of names) sourceByName.set(name, { module, original });
  }
  return sourceByName;
}

function declaredIn(module) {
  return [...readFileSync(module, 'utf8').matchAll(DECLARED)].map(([, name]) => [name, name]);
}

/** The values named in braces, each with the name it gets. */
function valuesIn(list) {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '' && !item.startsWith('type '))
    .map((item) => item.split(' as '))
    .map(([from, to = from]) => [from, to]);
}
