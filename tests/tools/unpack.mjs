/** Brings programs of the Debian archive without installing them: nothing of them is on the PATH, and no root is needed. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { librariesOf, UNPACKED } from './debian-tools.mjs';
import { aptGet, lastLines, progress, run } from './run.mjs';

/** Unpacks packages into the folder of all: installed, they would start a service of their own. Answers why not, or ''. */
export async function unpackFromDebian(names) {
  if (names.length === 0) return '';
  return inFreshFolder(names, (room) => unpackInto(UNPACKED, names, room));
}

/** Unpacks one program with every library that this system lacks, into a folder of its own. Answers why not, or ''. */
export async function unpackBundle({ folder, packages, without, moved }) {
  return inFreshFolder(packages, async (room) => {
    const draft = path.join(room, 'root');
    const failure = await unpackInto(draft, [...packages, ...(await lacking(packages, without))], room);
    if (failure !== '') return failure;
    if (!(await relocate(draft, moved))) return `${moved.library} does not name the folder ${moved.home}`;
    const unlinked = await unlinkedIn(draft, moved.library);
    if (unlinked !== undefined) return `${moved.library} finds no ${unlinked}`;
    const target = path.join(UNPACKED, folder);
    await rm(target, { recursive: true, force: true });
    await rename(draft, target);
    return '';
  });
}

async function inFreshFolder(names, work) {
  if (!existsSync('/usr/bin/apt-get')) return `needs ${names.join(', ')} of Debian or Ubuntu`;
  progress(`unpacking ${names.join(', ')} from the Debian archive`);
  const room = path.join(UNPACKED, `download-${process.pid}`);
  await mkdir(room, { recursive: true });
  try {
    return await work(room);
  } finally {
    await rm(room, { recursive: true, force: true });
  }
}

async function unpackInto(target, names, room) {
  const cwd = path.join(room, 'packages');
  await mkdir(cwd, { recursive: true });
  let got = await run('/usr/bin/apt-get', ['download', ...names], { cwd, minutes: 5 });
  if (got.code !== 0 && process.getuid?.() === 0) {
    await aptGet('update');
    got = await run('/usr/bin/apt-get', ['download', ...names], { cwd, minutes: 5 });
  }
  if (got.code !== 0) return `apt-get download: ${lastLines(got.output, 1)}`;
  for (const file of await readdir(cwd)) {
    const out = await run('/usr/bin/dpkg-deb', ['-x', path.join(cwd, file), target], { minutes: 5 });
    if (out.code !== 0) return `dpkg-deb: ${lastLines(out.output, 1)}`;
  }
  return '';
}

/** What an installation of these packages would add; a system that knows no packages yet adds none. */
async function lacking(packages, without) {
  const plan = () => aptGet('install', '--simulate', '--no-install-recommends', ...packages);
  let planned = await plan();
  if (planned.code !== 0 && process.getuid?.() === 0) {
    await aptGet('update');
    planned = await plan();
  }
  const names = [...planned.output.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name);
  return names.filter((name) => !packages.includes(name) && !without.includes(name));
}

/** The library names one absolute folder in which it finds its other programs; from here on that is the folder in which it is started. */
async function relocate(root, { library, home }) {
  const file = path.join(librariesOf(root), library);
  const bytes = await readFile(file);
  const named = path.join('/', path.relative(root, librariesOf(root)), home);
  // As long as before, for the length is written elsewhere.
  const here = './'.repeat(named.length).slice(0, named.length);
  let found = 0;
  for (let at = bytes.indexOf(named); at !== -1; at = bytes.indexOf(named, at)) {
    bytes.write(here, at, 'latin1');
    found += 1;
  }
  if (found > 0) await writeFile(file, bytes);
  return found > 0;
}

/** The first library that this one needs and neither the system nor the folder has. */
async function unlinkedIn(root, library) {
  const libraries = librariesOf(root);
  const env = { ...process.env, LD_LIBRARY_PATH: libraries };
  const linked = await run('/usr/bin/ldd', [path.join(libraries, library)], { env, minutes: 1 });
  return /(\S+) => not found/.exec(linked.output)?.[1];
}
