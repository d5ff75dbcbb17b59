import { open, readdir, readFile, realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { findProgram, isExecutable } from '../process/find-program.ts';

/** The program to start; `native` is false for a script whose binary was not found. */
export interface FoundCodex {
  path: string;
  native: boolean;
}

/** Finds the native binary behind a name or npm's wrapper: signals then reach Codex itself, and one process is enough. */
export async function findCodex(
  bin: string,
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<FoundCodex> {
  const candidate = await realpath(findProgram(bin, env, cwd));
  if (!(await isScript(candidate))) return { path: candidate, native: true };
  const native = await nativeBehind(candidate);
  return native === undefined ? { path: candidate, native: false } : { path: native, native: true };
}

async function nativeBehind(wrapper: string): Promise<string | undefined> {
  const root = path.join(path.dirname(wrapper), '..');
  const manifest = await readFile(path.join(root, 'package.json'), 'utf8').catch(() => '{}');
  if (!manifest.includes('"@openai/codex"')) return undefined;
  const vendors = [path.join(root, 'vendor')];
  try {
    const platform = `@openai/codex-${process.platform}-${process.arch}/package.json`;
    vendors.unshift(path.join(path.dirname(createRequire(wrapper).resolve(platform)), 'vendor'));
  } catch {
    // Older releases carry every platform's binary themselves.
  }
  const arch = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const system = process.platform === 'darwin' ? 'darwin' : process.platform;
  for (const vendor of vendors) {
    for (const triple of await readdir(vendor).catch(() => [])) {
      if (!triple.startsWith(arch) || !triple.includes(system)) continue;
      for (const folder of ['bin', 'codex']) {
        const candidate = path.join(vendor, triple, folder, 'codex');
        if (isExecutable(candidate)) return candidate;
      }
    }
  }
  return undefined;
}

async function isScript(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.toString('latin1') === '#!';
  } finally {
    await handle.close();
  }
}
