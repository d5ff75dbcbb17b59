/**
 * Names the other platforms' optional bindings in package-lock.json. A registry mirror that does not carry them makes
 * npm leave them out, and `npm ci` then refuses the lock. Run it after `npm install` changed the lock.
 */
import { readFileSync, writeFileSync } from 'node:fs';
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
for (const entry of Object.values({ ...lock.packages })) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const m = /(android|darwin|freebsd|linux|openharmony|win32|wasm32)-([a-z0-9]+)(?:-(gnu|musl))?/.exec(
      name,
    );
    lock.packages[`node_modules/${name}`] ??= {
      version,
      cpu: [m[1] === 'wasm32' ? 'wasm32' : m[2]],
      dev: true,
      ...(m[1] === 'linux' && m[3] ? { libc: [m[3] === 'gnu' ? 'glibc' : 'musl'] } : {}),
      license: 'MIT',
      optional: true,
      ...(m[1] === 'wasm32' ? {} : { os: [m[1]] }),
    };
  }
}
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).toSorted(([a], [b]) => a.localeCompare(b, 'en')),
);
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
