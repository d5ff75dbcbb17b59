import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { describe, onTestFinished, test } from 'vitest';

import { inCi } from '../../specs/in-ci.ts';
import { describeWith } from '../tools/describe-with.ts';
import type { ToolName } from '../tools/tools.ts';
import { temporaryFolder } from './crash-hub.ts';

/** A `describe` for what only root may do; elsewhere it is skipped with the reason in its name, except in CI. */
export function describeAsRoot(title: string, body: () => void): void {
  if (process.getuid?.() === 0) describe(title, body);
  else if (inCi()) throw new Error(`${title} cannot run: not root`);
  else test.skip(`${title} (skipped, only root may mount and trace)`, () => undefined);
}

/** A `describeWith` for tests that lay hands on a process that already runs, which many systems allow to root alone. */
export function describeTracing<Name extends ToolName>(
  names: readonly Name[],
  title: string,
  body: (paths: Record<Name, string>) => void,
): void {
  if (process.getuid?.() === 0) describeWith(names, title, body);
  else describeAsRoot(title, () => {});
}

/** A disk of a given size, in memory; gone with the test. */
export function mountSmallDisk(bytes: number): string {
  const folder = join(temporaryFolder(), 'disk');
  mkdirSync(folder);
  run('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'tmpfs', folder]);
  onTestFinished(() => run('umount', ['-l', folder]));
  return folder;
}

/** From now on nothing on this disk can be changed. */
export function makeReadOnly(disk: string): void {
  run('mount', ['-o', 'remount,ro', disk]);
}

function run(command: string, args: string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}
