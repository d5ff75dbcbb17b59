import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { until } from './proxy-client.ts';
import { makeTeam } from './team.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();

const archive = (team: string, agent: string): string =>
  join(place().home, '.config/atm/mail', team, `${agent}.jsonl`);
const line = (id: string, days: number): string => {
  const at = new Date(Date.now() - days * 86_400_000).toISOString();
  const entry = { from: 'alice', text: `text of ${id}`, timestamp: at, read: true, message_id: id };
  return `${JSON.stringify({ kind: 'mail', id, at, entry })}\n`;
};
const fill = (team: string, agent: string, ...lines: string[]): void => {
  mkdirSync(dirname(archive(team, agent)), { recursive: true });
  writeFileSync(archive(team, agent), lines.join(''));
};

test('a proxy forgets old mail of every team when it starts, and tells what is left', async () => {
  makeTeam(place(), 'default', ['bob']);
  fill('default', 'codex', line('m1', 91), line('m2', 89));
  fill('session-of-old', 'team-lead', line('m3', 200));
  const proxy = await start();
  await until(() => !existsSync(dirname(archive('session-of-old', 'team-lead'))));
  await until(() => !readFileSync(archive('default', 'codex'), 'utf8').includes('text of m1'));
  const { messages } = (await proxy.call('atm_read', { identity: 'codex', all: true }))
    .structuredContent as unknown as { messages: { message_id: string }[] };
  expect(messages.map(({ message_id }) => message_id)).toEqual(['m2']);
});

test('a repository cannot make it forget', async () => {
  fill('default', 'codex', line('m1', 10));
  writeFileSync(join(place().work, '.atm.toml'), '[plugins.atm-agent-mcp]\nmail_archive_days = 1\n');
  const proxy = await start();
  await proxy.call('agent_status');
  expect(proxy.stderr()).toContain('mail_archive_days');
  expect(readFileSync(archive('default', 'codex'), 'utf8')).toContain('text of m1');
});
