import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { native, useTeams } from './test-team.ts';

const { home, teams, inboxPath, archivePath, makeTeam, open, read, write } = useTeams();

describe('[FR-20.2] what cannot be understood is left as it is', () => {
  test.each(['[{"from":"bob","te', '{"messages":[]}', '', 'null', '[1,]', '[]\u0000', '"text"'])(
    '[C-MAIL-08] %j',
    async (text) => {
      makeTeam('red', 'arch', 'bob');
      writeFileSync(inboxPath('red', 'bob'), text);
      const teamMail = open('red');
      const wrong = { code: 'CONFLICT', message: expect.stringContaining(inboxPath('red', 'bob')) };
      await expect(teamMail.send('arch', { to: 'bob', message: 'x' })).rejects.toMatchObject(wrong);
      await expect(teamMail.read('bob')).rejects.toMatchObject(wrong);
      await expect(teamMail.pending('bob')).rejects.toMatchObject(wrong);
      await expect(teamMail.markRead('bob', ['x'])).rejects.toMatchObject(wrong);
      expect(readFileSync(inboxPath('red', 'bob'), 'utf8')).toBe(text);
      expect(
        readdirSync(dirname(inboxPath('red', 'bob'))).filter((name) => /tmp|json\.lock/.test(name)),
      ).toEqual([]);
      expect(existsSync(archivePath('red', 'bob'))).toBe(false);
    },
  );

  test('[C-MAIL-08] bytes that are no UTF-8', async () => {
    makeTeam('red', 'bob');
    const bytes = Buffer.concat([
      Buffer.from('[{"from":"a","timestamp":"","text":"'),
      Buffer.from([0xff]),
      Buffer.from('"}]'),
    ]);
    writeFileSync(inboxPath('red', 'bob'), bytes);
    await expect(open('red').send('arch', { to: 'bob', message: 'x' })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect(readFileSync(inboxPath('red', 'bob'))).toEqual(bytes);
  });
});

test('[FR-20.2] fields and entries that we do not know are kept', async () => {
  makeTeam('red', 'bob');
  const strange = [
    { ...native('eve', 'one'), msg_id: 'n-1', lead_sig: 'abc', nested: { deep: [1, null] } },
    { no: 'mail' },
    'text',
    null,
    { from: 'eve', text: 5, timestamp: '' },
  ];
  write('red', 'bob', strange);
  const teamMail = open('red');
  await teamMail.send('arch', { to: 'bob', message: 'two' });
  expect(read('red', 'bob').slice(0, 5)).toEqual(strange);
  await teamMail.markRead('bob', ['n-1']);
  expect(read('red', 'bob').slice(0, 5)).toEqual([
    { ...(strange[0] as object), read: true },
    ...strange.slice(1),
  ]);
});

describe('[FR-4.2] links and missing teams', () => {
  test('[C-MAIL-16] an inbox that is a link is refused and its target untouched', async () => {
    makeTeam('red', 'bob');
    const target = join(home(), 'target.json');
    writeFileSync(target, '[]');
    symlinkSync(target, inboxPath('red', 'bob'));
    const teamMail = open('red');
    await expect(teamMail.send('arch', { to: 'bob', message: 'x' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    await expect(teamMail.read('bob')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(readFileSync(target, 'utf8')).toBe('[]');
  });

  test.each(['', 'config.json', 'inboxes'])('a team whose %j is a link is not written to', async (part) => {
    makeTeam('red', 'bob');
    makeTeam('real', 'bob');
    rmSync(join(teams(), 'red', part), { recursive: true });
    symlinkSync(join(teams(), 'real', part), join(teams(), 'red', part));
    await expect(open('red').send('arch', { to: 'bob', message: 'x' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    expect(readdirSync(join(teams(), 'real', 'inboxes'))).toEqual([]);
  });

  test('a lock file that is a link is not followed', async () => {
    makeTeam('red', 'bob');
    const target = join(home(), 'target');
    symlinkSync(target, join(teams(), 'red/inboxes/bob.lock'));
    await expect(open('red').send('arch', { to: 'bob', message: 'x' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    expect(existsSync(target)).toBe(false);
  });

  test('[C-MAIL-16] without team folder or config.json nothing is written and the teams are told', async () => {
    makeTeam('blue', 'bob');
    const before = readdirSync(home(), { recursive: true, encoding: 'utf8' });
    const missing = { code: 'NOT_FOUND', message: expect.stringMatching(/no team red.*there are: blue/) };
    const teamMail = open('red');
    await expect(teamMail.send('arch', { to: 'bob', message: 'x' })).rejects.toMatchObject(missing);
    await expect(teamMail.broadcast('arch', { message: 'x' })).rejects.toMatchObject(missing);
    await expect(teamMail.join('arch', { agentType: 'codex', cwd: '/' })).rejects.toMatchObject(missing);
    await teamMail.markRead('arch', ['x']);
    expect(await teamMail.read('arch')).toEqual([]);
    const made = readdirSync(home(), { recursive: true, encoding: 'utf8' }).filter(
      (name) => !before.includes(name),
    );
    expect(made.filter((name) => name.startsWith('.claude'))).toEqual([]);
  });
});

test('[NFR-3] [C-MAIL-17] files are 0600 and folders 0700, whatever the umask', async () => {
  makeTeam('red', 'arch', 'bob');
  rmSync(join(teams(), 'red/inboxes'), { recursive: true });
  const before = new Set(readdirSync(home(), { recursive: true, encoding: 'utf8' }));
  chmodSync(join(teams(), 'red/config.json'), 0o666);
  const umask = process.umask(0);
  try {
    const teamMail = open('red');
    await teamMail.send('arch', { to: 'bob', message: 'x' });
    await teamMail.read('bob');
    await teamMail.join('new', { agentType: 'codex', cwd: '/' });
  } finally {
    process.umask(umask);
  }
  const made = readdirSync(home(), { recursive: true, encoding: 'utf8' }).filter((name) => !before.has(name));
  const modes = made.map((name) => {
    const found = statSync(join(home(), name));
    return [name, (found.mode & 0o777).toString(8), found.isDirectory() ? '700' : '600'];
  });
  expect(modes.map(([name, mode]) => [name, mode])).toEqual(modes.map(([name, , should]) => [name, should]));
  expect(made).toEqual(
    expect.arrayContaining([
      '.claude/teams/red/inboxes/bob.json',
      '.claude/teams/red/inboxes/bob.lock',
      '.config/atm/mail/red/bob.jsonl',
      '.config/atm/mail/red/bob.lock',
    ]),
  );
  expect(statSync(join(teams(), 'red/config.json')).mode & 0o777).toBe(0o600);
});
