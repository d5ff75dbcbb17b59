/** `npm run sbom`: what is inside the `parley` package and what it installs, as CycloneDX 1.5 on stdout. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { bundles } from './bundles.mjs';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const lock = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')).packages;
const hub = JSON.parse(readFileSync(`${root}packages/hub/package.json`, 'utf8'));

const built = await Promise.all(
  [bundles.hub, bundles.threads, bundles.dashboard].map((bundle) =>
    build({ ...bundle, absWorkingDir: root, write: false, metafile: true }),
  ),
);
const outputFiles = built.flatMap((result) => result.outputFiles);
const inputs = built.flatMap(({ metafile }) => Object.keys(metafile.inputs));
const bundled = inputs.flatMap((path) => {
  const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path);
  return match === null ? [] : [match[1]];
});
const installed = Object.keys(hub.dependencies).flatMap((name) => withDependencies(name));
/** What the hub can do without. */
const optional = Object.keys(hub.optionalDependencies).flatMap((name) => withDependencies(name));
const places = [...new Set([...bundled, ...installed, ...optional])].toSorted((a, b) =>
  a.localeCompare(b, 'en'),
);

/** What a dependency carries inside its own bundle shows only in its source map. */
const carried = new Map(
  outputFiles
    .filter(({ path }) => path.endsWith('.map'))
    .flatMap(({ text }) => JSON.parse(text).sources)
    .flatMap((source) => {
      const match = /\/\.pnpm\/((?:@[^+/]+\+)?[^@/]+)@([^_/]+)/.exec(source);
      return match === null ? [] : [[`${match[1]}@${match[2]}`, [match[1].replace('+', '/'), match[2]]]];
    }),
);

const components = places.map((place) => {
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const { version, license, integrity } = lock[place];
  return {
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: purl(name, version),
    ...(license === undefined ? {} : { licenses: [{ license: { id: license } }] }),
    ...(integrity === undefined ? {} : { hashes: [toHash(integrity)] }),
    properties: [{ name: 'parley:kind', value: kindOf(place) }],
  };
});

for (const [name, version] of carried.values()) {
  components.push({
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: purl(name, version),
    properties: [{ name: 'parley:kind', value: 'carried by a bundled package' }],
  });
}

process.stdout.write(
  `${JSON.stringify(
    {
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      version: 1,
      metadata: { component: { type: 'application', name: hub.name, version: hub.version } },
      components,
    },
    null,
    2,
  )}\n`,
);

function kindOf(place) {
  if (bundled.includes(place)) return 'bundled';
  return installed.includes(place) ? 'installed' : 'optional';
}

function purl(name, version) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function withDependencies(name, seen = new Set()) {
  const place = `node_modules/${name}`;
  if (seen.has(place)) return [];
  seen.add(place);
  const { dependencies = {}, optionalDependencies = {} } = lock[place];
  // Of the bindings for each platform, npm installs the one that fits.
  const fitting = Object.keys(optionalDependencies).filter((next) =>
    existsSync(`${root}node_modules/${next}`),
  );
  return [
    place,
    ...[...Object.keys(dependencies), ...fitting].flatMap((next) => withDependencies(next, seen)),
  ];
}

function toHash(integrity) {
  const [algorithm, digest] = integrity.split('-');
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') };
}
