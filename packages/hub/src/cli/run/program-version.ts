import { versionOf } from '@parley/runtimes';

const VERSION_MS = 10_000;

/** Which version of a program a person would start here; undefined where it does not say. */
export function programVersion(command: string): Promise<string | undefined> {
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return versionOf({ command, env, cwd: process.cwd(), timeoutMs: VERSION_MS }).catch(() => undefined);
}
