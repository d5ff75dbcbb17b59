import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** One file of the web app, ready to be sent. */
export interface WebFile {
  type: string;
  etag: string;
  /** Its name changes with its content: a browser may keep it for ever. */
  lasting: boolean;
  bytes: Buffer;
  /** Undefined where packing does not pay; it is packed when it is first asked for. */
  readonly gzip: Buffer | undefined;
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
};

/** Beside the bundle, or where the bundle is built when the hub runs from its sources. */
const PLACES = ['./', '../dist/'];

/** The web app as it was built, by path; empty when it was not. */
export function readWebFiles(): ReadonlyMap<string, WebFile> {
  return new Map([...listFiles('dashboard')].map(([name, path]) => [name, readWebFile(path)]));
}

/** Where each file of a built folder lies, by its path in the folder; empty when it was not built. */
export function listFiles(built: 'dashboard' | 'docs'): ReadonlyMap<string, string> {
  const folder = PLACES.map((path) => fileURLToPath(new URL(`${path}${built}/`, import.meta.url))).find(
    (path) => existsSync(join(path, 'index.html')),
  );
  if (folder === undefined) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => TYPES[extname(name)] !== undefined);
  return new Map(files.map((name) => [`/${name.replaceAll('\\', '/')}`, join(folder, name)]));
}

/** One file, which is packed for the first who takes it so. */
export function readWebFile(path: string): WebFile {
  const bytes = readFileSync(path);
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  let packed: Buffer | undefined;
  return {
    type,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    lasting: /-[A-Z0-9]{8}\.(js|css)$/.test(path),
    bytes,
    get gzip() {
      if (type.startsWith('image/png')) return undefined;
      packed ??= gzipSync(bytes, { level: 9 });
      return packed.length < bytes.length ? packed : undefined;
    },
  };
}
