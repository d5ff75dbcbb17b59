import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { useTeams } from './test-team.ts';

const { teams, makeTeam, open } = useTeams();
const configPath = () => join(teams(), 'red', 'config.json');
const config = () => JSON.parse(readFileSync(configPath(), 'utf8')) as { members: { name: string }[] };

test('[FR-20.2] members are read, joined and left; everything else in the file is kept', async () => {
  makeTeam('red', 'bob');
  const before = config();
  const teamMail = open('red');
  expect(await teamMail.join('arch', { agentType: 'codex', cwd: '/repo' })).toBe(true);
  expect(await teamMail.join('arch', { agentType: 'codex', cwd: '/elsewhere' })).toBe(false);
  expect(await teamMail.members()).toEqual([
    { name: 'team-lead', agent_type: null, is_lead: true, is_ours: false },
    { name: 'bob', agent_type: null, is_lead: false, is_ours: false },
    { name: 'arch', agent_type: 'codex', is_lead: false, is_ours: true },
  ]);
  expect(config()).toEqual({
    ...before,
    members: [
      ...before.members,
      expect.objectContaining({ agentId: 'arch@red', name: 'arch', cwd: '/repo' }),
    ],
  });
  expect(await teamMail.leave('arch')).toBe(true);
  expect(await teamMail.leave('arch')).toBe(false);
  expect(config()).toEqual(before);
});

test('nobody is removed but those who were joined here', async () => {
  makeTeam('red', 'bob');
  const before = config();
  for (const name of ['team-lead', 'bob', 'nobody']) expect(await open('red').leave(name)).toBe(false);
  expect(config()).toEqual(before);
});

test('many join at once, none is lost', async () => {
  makeTeam('red');
  const names = Array.from({ length: 12 }, (_, i) => `agent-${i}`);
  const teamMails = [open('red'), open('red'), open('red')];
  const joining = teamMails.map(async (teamMail, i) => {
    for (const name of names.filter((_, n) => n % 3 === i))
      await teamMail.join(name, { agentType: 'codex', cwd: '/' });
  });
  await Promise.all(joining);
  expect(
    config()
      .members.map(({ name }) => name)
      .toSorted(),
  ).toEqual(['team-lead', ...names].toSorted());
});

test.each(['{"members":', '{"name":"red"}', '[]'])(
  'a config.json of %j is an error and stays as it is',
  async (text) => {
    makeTeam('red');
    writeFileSync(configPath(), text);
    const teamMail = open('red');
    const calls = [
      () => teamMail.members(),
      () => teamMail.join('arch', { agentType: 'codex', cwd: '/' }),
      () => teamMail.send('arch', { to: 'bob', message: 'x' }),
    ];
    const wrong = { code: 'CONFLICT', message: expect.stringContaining('config.json') };
    for (const call of calls) await expect(call()).rejects.toMatchObject(wrong);
    expect(readFileSync(configPath(), 'utf8')).toBe(text);
  },
);
