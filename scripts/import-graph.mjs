/**
 * The graph of imports between the source files of all packages, types included. As a program it prints every knot of
 * files that import each other and the longest chain of files, each of which imports the next.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What each source file imports, by its path from the root of the repository. */
export function importGraph() {
  const packages = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name));
  const exported = new Map(packages.flatMap(exportsOf));
  const files = packages.flatMap((folder) => sourcesIn(join(folder, 'src')));
  return new Map(
    files.map((file) => [
      relative(root, file),
      importsOf(readFileSync(file, 'utf8'))
        .map((name) => (name.startsWith('.') ? resolve(dirname(file), name) : exported.get(name)))
        .filter((target) => target !== undefined && existsSync(target))
        .map((target) => relative(root, target)),
    ]),
  );
}

/** Groups of files that can be reached from each other, in an order in which everybody comes after whom it imports. */
export function knotsOf(graph) {
  const knots = [];
  const marks = new Map();
  const open = [];
  function visit(file) {
    const mark = { index: marks.size, low: marks.size, isOpen: true };
    marks.set(file, mark);
    open.push(file);
    for (const next of graph.get(file) ?? []) {
      const seen = marks.get(next) ?? visit(next);
      if (seen.isOpen) mark.low = Math.min(mark.low, seen.low);
    }
    if (mark.low !== mark.index) return mark;
    const knot = open.splice(open.indexOf(file));
    for (const one of knot) marks.get(one).isOpen = false;
    knots.push(knot);
    return mark;
  }
  for (const file of graph.keys()) if (!marks.has(file)) visit(file);
  return knots;
}

/** The files of the longest chain; of a knot all count. */
export function longestChain(graph) {
  const chains = new Map();
  let longest = [];
  for (const knot of knotsOf(graph)) {
    const outside = knot.flatMap((file) => graph.get(file) ?? []).filter((file) => !knot.includes(file));
    const below = outside.map((file) => chains.get(file) ?? []);
    const chain = [...knot, ...below.reduce((a, b) => (b.length > a.length ? b : a), [])];
    for (const file of knot) chains.set(file, chain);
    if (chain.length > longest.length) longest = chain;
  }
  return longest;
}

function exportsOf(folder) {
  const { name, exports = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.entries(exports)
    .filter(([, file]) => typeof file === 'string')
    .map(([path, file]) => [join(name, path), join(folder, file)]);
}

function sourcesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => /[.](ts|tsx|mts)$/.test(name) && !/[.](test|d)[.]/.test(name))
    .map((name) => join(folder, name));
}

function importsOf(text) {
  return [...text.matchAll(/(?:^|\n)(?:import|export)\s(?:[^'";]*?\sfrom\s)?'([^']+)'/g)].map(
    ([, name]) => name,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const graph = importGraph();
  const knots = knotsOf(graph).filter((knot) => knot.length > 1);
  for (const knot of knots) console.log(`knot of ${knot.length}: ${knot.toSorted().join(' ')}`);
  const chain = longestChain(graph);
  console.log(`${graph.size} files, ${knots.length} knots, longest chain ${chain.length}:`);
  for (const file of chain) console.log(`  ${file}`);
}
