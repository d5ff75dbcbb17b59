import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { PROGRAM } from '../proxy/proxy-client.ts';
import { describeWith } from '../tools/describe-with.ts';
import { makeTeam, useHome } from './use-home.ts';

const { home, inbox, entries } = useHome('red', 'arch', 'bob');

const environment = () => ({ PATH: process.env['PATH'], HOME: home(), ATM_HOME: home(), ATM_TEAM: 'red' });

function run(args: string[], more: { env?: Record<string, string>; input?: string } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, 'mail', ...args], {
    cwd: home(),
    env: { ...environment(), ...more.env },
    input: more.input ?? '',
    encoding: 'utf8',
  });
  return { status, stdout, stderr, data: stdout.startsWith('{') ? (JSON.parse(stdout) as never) : undefined };
}

test('a mail is sent, seen by its reader, listed, and read again from the archive', () => {
  const sent = run(['send', 'bob', 'the build is green', '--as', 'arch', '--json']);
  expect(sent.data).toMatchObject({ to: 'bob@red', summary: 'the build is green', duplicate: false });
  expect(entries('bob')).toMatchObject([{ from: 'arch', text: 'the build is green', read: false }]);
  expect(run(['ls']).stdout).toBe('team-lead  0 unread  (lead)\narch       0 unread\nbob        1 unread\n');
  expect(run(['ls', '--json']).data).toEqual({
    members: [
      { agent: 'team-lead', is_lead: true, unread: 0 },
      { agent: 'arch', is_lead: false, unread: 0 },
      { agent: 'bob', is_lead: false, unread: 1 },
    ],
  });
  const shown = run(['read', '--as', 'bob']);
  expect(shown.stdout).toMatch(/^\d{4}-\S+ {2}arch {2}\S+\n {4}the build is green\n/);
  expect(run(['read', '--as', 'bob', '--mark-read', '--json']).data).toMatchObject({
    agent: 'bob',
    messages: [{ from: 'arch', message: 'the build is green', read: false }],
  });
  expect(run(['read', '--as', 'bob']).stdout).toBe('no mail for bob\n');
  writeFileSync(inbox('bob'), '[]');
  expect(run(['read', '--as', 'bob', '--all']).stdout).toContain('the build is green');
});

test('a person who looks takes nothing away from the agent', () => {
  run(['send', 'bob', 'for bob', '--as', 'arch']);
  for (const _ of [1, 2])
    expect(run(['read', '--as', 'bob', '--json']).data).toMatchObject({ messages: [{ message: 'for bob' }] });
});

test('the identity, the team and the aliases come from the configuration; stdin and ids work', () => {
  makeTeam(home(), 'blue', ['boss']);
  mkdirSync(join(home(), '.config/atm'), { recursive: true });
  writeFileSync(
    join(home(), '.config/atm/config.toml'),
    '[core]\nidentity = "arch"\ndefault_team = "red"\n[aliases]\nchief = "boss@blue"\n',
  );
  const env = { ATM_TEAM: '' };
  const send = () =>
    run(['send', 'chief', '-', '--message-id', 'm-1', '--summary', 'log', '--json'], {
      env,
      input: 'line 1\nline 2\n',
    });
  expect(send().data).toMatchObject({ to: 'boss@blue', message_id: 'm-1', summary: 'log', duplicate: false });
  expect(send().data).toMatchObject({ duplicate: true });
  const file = join(home(), '.claude/teams/blue/inboxes/boss.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject([
    { from: 'arch', source_team: 'red', text: 'line 1\nline 2\n' },
  ]);
  expect(run(['read', '--as', 'boss', '--team', 'blue', '--from', 'arch@red'], { env }).stdout).toContain(
    'arch@red',
  );
});

test('what a mail holds cannot play with the terminal', () => {
  run(['send', 'bob', 'bell \u0007, colour \u001b[31mred\u001b[0m, \u202eturned', '--as', 'arch']);
  const { stdout } = run(['read', '--as', 'bob']);
  expect(stdout).toContain('bell \\u{7}, colour \\u{1b}[31mred\\u{1b}[0m, \\u{202e}turned');
});

test('errors say what is wrong and what to do', () => {
  const nobody = run(['send', 'bobb', 'x', '--as', 'arch']);
  expect(nobody).toMatchObject({ status: 3, stdout: '' });
  expect(nobody.stderr).toContain('team red has no member bobb; there are: team-lead, arch, bob');
  expect(run(['ls', '--team', 'green', '--json'])).toMatchObject({
    status: 3,
    data: { error: { code: 'NOT_FOUND', message: expect.stringContaining('there are: red') } },
  });
  expect(run(['send', 'a@b@c', 'x']).status).toBe(2);
  expect(run(['send', 'bob', '  ']).status).toBe(2);
  expect(run(['send', 'bob']).status).toBe(2);
  expect(run(['read', '--limit', '0']).status).toBe(2);
  expect(run(['read', '--since', 'yesterday']).status).toBe(2);
  expect(run(['read', '--as', '../x']).status).toBe(2);
  expect(run(['send', 'bob', 'x', '--as', 'team-lead'])).toMatchObject({ status: 1 });
  writeFileSync(inbox('bob'), '[{"from":');
  expect(run(['send', 'bob', 'x', '--as', 'arch']).stderr).toContain('is left as it is');
  expect(run(['ls']).stdout).toMatch(/^bob .*is left as it is/m);
  expect(readFileSync(inbox('bob'), 'utf8')).toBe('[{"from":');
  expect(run(['--help']).stdout).toMatch(/ls .*\n.*read .*\n.*send /s);
});

describeWith(['strace'], 'with ATM_HOME set', ({ strace }) => {
  test('[C-MAIL-18] nothing under the real home is read or written', () => {
    const real = join(home(), 'real');
    makeTeam(real, 'red', ['arch', 'bob']);
    const before = readdirSync(real, { recursive: true });
    for (const args of [['send', 'bob', 'hello', '--as', 'arch'], ['read', '--as', 'bob', '--all'], ['ls']]) {
      const trace = join(home(), 'trace');
      const { status, stderr } = spawnSync(
        strace,
        [
          '-f',
          '-y',
          '-s',
          '4096',
          '-e',
          'trace=%file',
          '-o',
          trace,
          process.execPath,
          PROGRAM,
          'mail',
          ...args,
        ],
        { cwd: home(), env: { ...environment(), HOME: real }, input: '', encoding: 'utf8' },
      );
      expect(status, stderr).toBe(0);
      const touched = readFileSync(trace, 'utf8')
        .split('\n')
        .filter((line) => line.includes(`"${real}/`) || line.includes(`"${real}"`));
      expect(touched).toEqual([]);
      expect(readFileSync(trace, 'utf8')).toContain(join(home(), '.claude/teams/red'));
    }
    expect(readdirSync(real, { recursive: true })).toEqual(before);
  });
});
