/** What was built comes into its folder file by file: whoever starts meanwhile finds the old build or the new one. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** The bytes of a build by their path inside `outdir`. */
export function builtFiles(outdir, { outputFiles }) {
  return new Map(outputFiles.map(({ path, contents }) => [relative(outdir, path), Buffer.from(contents)]));
}

/** Writes what differs, new files first, each whole or not at all; then removes what no build has any more, save what is kept. */
export function writeBuilt(outdir, files, kept = () => false) {
  const changed = [...files].filter(([name, bytes]) => !isSame(join(outdir, name), bytes));
  // A file that is there already may name new ones.
  const order = changed.map(([name]) => name).toSorted((a, b) => has(outdir, a) - has(outdir, b));
  for (const name of order) replace(join(outdir, name), files.get(name));
  for (const name of namesIn(outdir)) if (!files.has(name) && !kept(name)) rmSync(join(outdir, name));
}

/** The paths of all files below a folder, inside it. */
export function namesIn(folder) {
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

function has(outdir, name) {
  return Number(existsSync(join(outdir, name)));
}

function isSame(path, bytes) {
  return existsSync(path) && readFileSync(path).equals(bytes);
}

function replace(path, bytes) {
  mkdirSync(dirname(path), { recursive: true });
  const beside = `${path}.${process.pid}.new`;
  writeFileSync(beside, bytes);
  renameSync(beside, path);
}
