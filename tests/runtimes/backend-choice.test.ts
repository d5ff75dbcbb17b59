import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { carriers } from '../agents/run-process.ts';
import { openScripted } from './scripted-child.ts';

describe('the choice of a backend', () => {
  test.each([
    ['codex-cli 0.166.0', 'app-server', 'app-server', /has an app-server/],
    ['codex-cli 0.153.0', 'app-server mcp-server', 'app-server', /has an app-server/],
    ['codex-cli 0.120.0', 'app-server mcp-server', 'mcp-server', /older than the one/],
    ['codex-cli 0.104.0', 'mcp-server', 'mcp-server', /has no app-server/],
    ['codex-cli 0.120.0', 'app-server', 'app-server', /nothing but an old app-server/],
    ['', 'silent', 'mcp-server', /does not say/],
  ])('%s with %s', async (SCRIPTED_VERSION, SCRIPTED_SERVERS, backend, reason) => {
    const env = { SCRIPTED_VERSION, SCRIPTED_SERVERS };
    const { codex } = await openScripted('app-server', { backend: 'auto' }, { env });
    const facts = await codex.start();
    expect(facts).toMatchObject({ backend, native: false });
    expect(facts.reason).toMatch(reason);
  });

  test('a binary with neither is refused, and one that is not there', async () => {
    const env = { SCRIPTED_SERVERS: 'none' };
    const { codex } = await openScripted('app-server', { backend: 'auto' }, { env });
    await expect(codex.start()).rejects.toMatchObject({ code: 'BACKEND_MISSING' });
    const missing = await openScripted('app-server', { bin: 'no-such-codex' });
    await expect(missing.codex.start()).rejects.toMatchObject({ code: 'SPAWN_FAILED' });
    expect(await missing.codex.close()).toBeUndefined();
    const nowhere = await openScripted('app-server', { cwd: '/no/such/folder' });
    await expect(nowhere.codex.start()).rejects.toMatchObject({ code: 'SPAWN_FAILED' });
  });

  test('a binary that says nothing and does not end does not hold up the close, which ends all that it began', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'mute-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const bin = path.join(folder, 'codex');
    const seen = path.join(folder, 'asked');
    await writeFile(bin, `#!/bin/sh\ntrap '' TERM\n: > '${seen}'\nsleep 600\nsleep 600\n`, { mode: 0o755 });
    const { codex } = await openScripted('app-server', { bin }, { env: { MARK: folder } });
    const refused = expect(codex.start()).rejects.toMatchObject({ code: 'CLOSED' });
    await vi.waitFor(() => expect(existsSync(seen)).toBe(true), 20_000);
    const [asked] = await carriers(folder);
    expect(await codex.close()).toBeUndefined();
    expect(existsSync(`/proc/${asked?.pid}`)).toBe(false);
    await refused;
    await vi.waitFor(async () => expect(await carriers(folder)).toEqual([]), 20_000);
  });
});
