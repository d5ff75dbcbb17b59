import { stat } from 'node:fs/promises';

import type { DoorName, Family } from '@parley/core';
import { findProgram, versionOf } from '@parley/runtimes';

/** The oldest release with which each door was tried and found good; the newest major is not known beforehand. */
export const TRIED: Partial<Record<DoorName, { from: string; below: string }>> = {
  codex_socket: { from: '0.166.0', below: '1.0.0' },
  codex_resume: { from: '0.153.0', below: '1.0.0' },
  codex_new: { from: '0.153.0', below: '1.0.0' },
  claude_hook: { from: '2.1.300', below: '3.0.0' },
  claude_resume: { from: '2.1.300', below: '3.0.0' },
  claude_new: { from: '2.1.300', below: '3.0.0' },
};

export type ManagedRuntime = 'codex' | 'claude';

/** The same for sessions without a terminal, whose start is refused with other versions. */
export const TRIED_MANAGED: Record<ManagedRuntime, { from: string; below: string }> = {
  codex: { from: '0.153.0', below: '1.0.0' },
  claude: { from: '2.1.300', below: '3.0.0' },
};

/** Why a door into a program of this version is shut; undefined where it is open. */
export function untried(door: DoorName, version: string | undefined, runtime?: Family): string | undefined {
  const managed = runtime === undefined || runtime === 'other' ? undefined : TRIED_MANAGED[runtime];
  const tried = door === 'managed' ? managed : TRIED[door];
  return tried === undefined ? undefined : outside(tried, version);
}

function outside(tried: { from: string; below: string }, version: string | undefined): string | undefined {
  if (version === undefined) return 'version_unknown';
  const fits = compare(version, tried.from) >= 0 && compare(version, tried.below) < 0;
  return fits ? undefined : `version_untried: ${version}`;
}

function compare(a: string, b: string): number {
  const numbers = (text: string): number[] => text.split(/[.+-]/).slice(0, 3).map(Number);
  const [left, right] = [numbers(a), numbers(b)];
  for (let i = 0; i < 3; i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

export interface Program {
  path: string;
  version: string | undefined;
}

/** Finds programs and asks each for its version once, and again when its file has changed. */
export function createPrograms(timeoutMs: number) {
  const versions = new Map<string, Promise<string | undefined>>();
  return async (bin: string, env: Record<string, string>, cwd: string): Promise<Program> => {
    const path = findProgram(bin, env, cwd);
    const { mtimeMs, size } = await stat(path);
    const key = `${path} ${mtimeMs} ${size}`;
    let version = versions.get(key);
    if (version === undefined) {
      version = versionOf({ command: path, env, cwd, timeoutMs });
      versions.set(key, version);
    }
    const known = await version;
    // Whoever did not answer in time is asked again.
    if (known === undefined) versions.delete(key);
    return { path, version: known };
  };
}
