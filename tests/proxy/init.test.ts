import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { PROGRAM } from './proxy-client.ts';
import { makeTeam } from './team.ts';
import { useProxies } from './use-proxies.ts';

const { place, start } = useProxies();

function run(args: string[], env: Record<string, string> = {}) {
  return spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: place().work,
    env: { PATH: process.env['PATH'], HOME: place().home, ATM_HOME: place().home, ...env },
    encoding: 'utf8',
  });
}

describeWith(['claude'], 'init claude', ({ claude }) => {
  test('registers the proxy by Claude Code itself, and takes it back', () => {
    const init = (...args: string[]) => run(['init', 'claude', '--claude-bin', claude, ...args]);
    const shown = init('--print', '--', '--identity', "o'arch").stdout;
    expect(shown).toContain(`mcp add --scope user codex-team -- `);
    expect(shown).toContain(`serve --identity 'o'\\''arch'`);
    expect(init('--', '--identity', 'arch')).toMatchObject({ status: 0 });
    const config = spawnSync(claude, ['mcp', 'get', 'codex-team'], {
      env: { PATH: process.env['PATH'], HOME: place().home },
      cwd: place().work,
      encoding: 'utf8',
    });
    expect(config.stdout).toContain('serve --identity arch');
    const undone = init('--undo', '--json');
    expect(JSON.parse(undone.stdout)).toMatchObject({ name: 'codex-team', registered: false });
    expect(init('--undo')).toMatchObject({ status: 1 });
  });
});

test('init claude without Claude Code says what to do', () => {
  const { status, stderr } = run(['init', 'claude', '--claude-bin', 'no-such-claude']);
  expect(status).toBe(3);
  expect(stderr).toContain('install Claude Code, or run: no-such-claude mcp add');
});

interface Diagnosis {
  healthy: boolean;
  findings: { what: string; state: string; detail: string }[];
}

test('doctor tells what is there and what is not', async () => {
  const team = makeTeam(place(), 'default', ['alice']);
  const proxy = await start();
  await proxy.call('codex', { prompt: 'say hi', identity: 'arch' });
  const scripted = join(place().root, 'codex');
  writeFileSync(scripted, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const diagnose = (...args: string[]) => {
    const { status, stdout } = run(['doctor', '--json', ...args]);
    return { status, ...(JSON.parse(stdout) as Diagnosis) };
  };
  const sick = diagnose('--codex-bin', scripted);
  expect(sick).toMatchObject({ status: 1, healthy: false });
  expect(sick.findings).toContainEqual(expect.objectContaining({ what: 'Codex', state: 'fault' }));
  expect(sick.findings).toContainEqual(
    expect.objectContaining({
      what: "registry of 'codex'",
      detail: expect.stringContaining('is running') as string,
    }),
  );
  const well = diagnose('--codex-bin', new URL('scripted-codex', import.meta.url).pathname);
  expect(well).toMatchObject({ status: 0, healthy: true });
  mkdirSync(join(team.folder, 'inboxes'), { recursive: true });
  writeFileSync(join(team.folder, 'inboxes', 'alice.json'), '{"half": ');
  const broken = diagnose('--codex-bin', new URL('scripted-codex', import.meta.url).pathname);
  expect(broken.findings).toContainEqual(expect.objectContaining({ what: 'inbox of alice', state: 'fault' }));
  const teamless = diagnose('--team', 'none', '--codex-bin', scripted).findings;
  expect(teamless).toContainEqual(expect.objectContaining({ what: "team 'none'", state: 'note' }));
});
