import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { onTestFinished } from 'vitest';

import { type Person, sitDown, supervised } from '../supervisor/person.ts';
import type { Desk } from './desk.ts';

/** Somebody at a terminal of their own, before a program that the hub of the desk knows as this agent. */
export async function sitAtTerminal(
  desk: Desk,
  agent: string,
  program: string[],
  { env = {}, quiet = '500ms' }: { env?: Record<string, string>; quiet?: string } = {},
): Promise<Person & { folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'shown-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const token = join(folder, 'token');
  const worker = { agent, workspace: 'w1', role: 'worker', session: `${agent}-1` };
  writeFileSync(token, desk.signer.token(worker), { mode: 0o600 });
  const words = ['--agent', agent, '--url', desk.hub.url, '--token-file', token, '--data', folder];
  const person = await sitDown(supervised(program, [...words, '--quiet', quiet, '--recheck', '100ms']), {
    // A shell that is hung up on would write its history while the folder goes.
    env: { HOME: folder, HISTFILE: '/dev/null', ...env },
    cwd: folder,
  });
  return { ...person, folder };
}
