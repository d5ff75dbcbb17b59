import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';

import { RpcError } from '../errors.ts';
import { createIdentities, type Identities } from './identities.ts';
import { IDENTITY_PATTERN, NAME_PATTERN } from './identity-name.ts';

let folder: string;
let identities: Identities;
type Child = ChildProcessByStdio<Writable, Readable, null>;
/** The other process, as long as it lives. */
let other: Child | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'atm-identities-'));
  identities = createIdentities(folder, 'blue');
});
afterEach(() => {
  identities.close();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(() => void other?.kill('SIGKILL'));

const script = fileURLToPath(new URL('hold-identity.mjs', import.meta.url));

/** Another process that asks for the identity, and what it was told. */
async function another(identity: string): Promise<{ child: Child; reported: string }> {
  const child = (other ??= spawn(process.execPath, ['--import', 'tsx', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  }));
  child.stdin.write(`${JSON.stringify({ folder, team: 'blue', identity })}\n`);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, reported: line.toString().trim() };
}

function conflict(run: () => void): RpcError {
  try {
    run();
  } catch (error) {
    if (error instanceof RpcError) return error;
    throw error;
  }
  throw new Error('there was no conflict');
}

describe('[FR-2.5] [FR-3.1] [C-PROXY-09] within the process', () => {
  test('an identity is bound once, and the conflict names the session that has it', () => {
    identities.bind('arch', 'codex:1');
    identities.bind('dev', 'codex:2');
    expect(conflict(() => identities.bind('arch', 'codex:3'))).toMatchObject({
      code: -32_001,
      data: {
        error_source: 'proxy',
        error_name: 'IDENTITY_CONFLICT',
        identity: 'arch',
        conflicting_agent_id: 'codex:1',
      },
    });
    expect(identities.bindings()).toEqual([
      { identity: 'arch', agent_id: 'codex:1' },
      { identity: 'dev', agent_id: 'codex:2' },
    ]);
  });

  test('[FR-3.4] released it can be bound again; only its own session releases it', () => {
    identities.bind('arch', 'codex:1');
    identities.release('arch', 'codex:2');
    expect(identities.agentOf('arch')).toBe('codex:1');
    identities.release('arch', 'codex:1');
    identities.bind('arch', 'codex:2');
    expect(identities.agentOf('arch')).toBe('codex:2');
  });
});

describe('[FR-20.1] between processes', { timeout: 60_000 }, () => {
  test('[C-PROXY-32] [FR-5.3] what one holds or has bound, another is refused; another name is free', async () => {
    identities.hold('codex');
    identities.bind('arch', 'codex:1');
    expect(existsSync(join(folder, 'blue', 'codex.lock'))).toBe(true);
    const asked: string[] = [];
    for (const name of ['codex', 'arch', 'dev']) asked.push((await another(name)).reported);
    expect(asked).toEqual(['-32001 IDENTITY_CONFLICT', '-32001 IDENTITY_CONFLICT', 'held']);
    expect(conflict(() => identities.bind('dev', 'codex:2')).data).toMatchObject({ identity: 'dev' });
  });

  test('released here it is free there, but not what this instance holds for itself', async () => {
    identities.hold('codex');
    identities.bind('codex', 'codex:1');
    identities.bind('arch', 'codex:2');
    identities.release('codex', 'codex:1');
    identities.release('arch', 'codex:2');
    expect((await another('codex')).reported).toBe('-32001 IDENTITY_CONFLICT');
    expect((await another('arch')).reported).toBe('held');
  });

  test('[C-PROXY-30] a stopped holder holds on, a killed one does not', async () => {
    const { child, reported } = await another('codex');
    expect(reported).toBe('held');
    child.kill('SIGSTOP');
    expect(conflict(() => identities.hold('codex')).code).toBe(-32_001);
    child.kill('SIGKILL');
    await once(child, 'exit');
    other = undefined;
    identities.hold('codex');
  });
});

test('[C-PROXY-34] names that would leave their folder or be two things at once are none', () => {
  const bad = [
    '../../x',
    'a/b',
    '',
    '.',
    '..',
    'a.lock',
    'x'.repeat(300),
    'a\0b',
    'é',
    'e\u0301',
    '-x',
    'a b',
    'a..b',
    'audit.jsonl',
    'a.',
    '.bridge.json',
  ];
  for (const pattern of [NAME_PATTERN, IDENTITY_PATTERN])
    expect(bad.filter((name) => pattern.test(name))).toEqual([]);
  for (const name of ['codex', 'arch-ctm', 'dev_1', 'A', 'a', '7']) expect(name).toMatch(NAME_PATTERN);
  for (const name of ['codex', 'arch-ctm', 'dev.1', 'a.lock.b']) expect(name).toMatch(IDENTITY_PATTERN);
});

test('names that have one inbox exclude each other, here and in another process', async () => {
  identities.bind('dev.1', 'codex:1');
  expect(conflict(() => identities.bind('dev-1', 'codex:2')).data).toMatchObject({
    error_name: 'IDENTITY_CONFLICT',
    conflicting_agent_id: 'codex:1',
  });
  expect((await another('dev-1')).reported).toBe('-32001 IDENTITY_CONFLICT');
  identities.release('dev.1', 'codex:1');
  identities.hold('dev-1');
  expect(conflict(() => identities.bind('dev.1', 'codex:2')).code).toBe(-32_001);
  expect((await another('dev.1')).reported).toBe('-32001 IDENTITY_CONFLICT');
});
