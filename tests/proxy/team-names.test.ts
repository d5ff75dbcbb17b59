import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import { errorOf, type ProxyClient, until } from './proxy-client.ts';
import { callInside, type Door, doorsOf } from './session-door.ts';
import { makeTeam, type Team } from './team.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();
let team: Team;
beforeEach(() => {
  team = makeTeam(place(), 'default', ['alice', 'dotted.name']);
});

const conflict = (identity: string) => ({
  code: -32_001,
  data: { error_source: 'proxy', error_name: 'IDENTITY_CONFLICT', identity },
});
const begin = (proxy: ProxyClient, identity: string) => proxy.call('codex', { prompt: 'say hi', identity });

/** Somebody joins the team as Claude Code lets them. */
function hire(name: string, more: object = {}): void {
  const path = join(team.folder, 'config.json');
  const config = JSON.parse(readFileSync(path, 'utf8')) as { members: object[] };
  config.members.push({ agentId: `${name}@default`, name, agentType: 'codex', joinedAt: 2, ...more });
  writeFileSync(path, JSON.stringify(config));
}

describe('a session cannot take a living teammate', () => {
  test('by its call: the name of a member, of the lead, or one that means the same inbox', async () => {
    team.deliver('alice', { text: 'for alice alone' });
    hire('boss', { agentId: 'team-lead@default' });
    const proxy = await start();
    for (const identity of ['alice', 'Alice', 'dotted-name', 'team-lead', 'TEAM-LEAD', 'boss'])
      expect(await errorOf(begin(proxy, identity))).toMatchObject(conflict(identity));
    expect(proxy.received()).toEqual([]);
    expect(team.unread('alice')).toEqual(['for alice alone']);
    expect((await begin(proxy, 'arch')).isError).toBeUndefined();
    // Two that differ by a capital would be one on another file system.
    expect((await errorOf(begin(proxy, 'Arch'))).code).toBe(-32_001);
  });

  test('by its configuration: the client of such a proxy hears why', async () => {
    await expect(start({ args: ['--identity', 'alice'] })).rejects.toMatchObject(conflict('alice'));
    await expect(start({ env: { ATM_AGENT_MCP_IDENTITY: 'team-lead' } })).rejects.toMatchObject(
      conflict('team-lead'),
    );
  });

  test('by being taken up again, when the name has become a teammate since', async () => {
    const before = await start();
    const closed = (await begin(before, 'arch')).structuredContent.agent_id;
    await before.call('agent_close', { identity: 'arch' });
    const killed = (await begin(before, 'dev')).structuredContent.agent_id;
    await until(() => !team.members().includes('arch') && team.members().includes('dev'));
    await before.kill('SIGKILL');
    hire('arch');
    const after = await start();
    const again = after.call('codex', { agent_id: closed, prompt: 'say on' });
    expect(await errorOf(again)).toMatchObject(conflict('arch'));
    // What a killed proxy left is its own, and can be had again.
    const dev = await after.call('codex-reply', { agent_id: killed, prompt: 'say on' });
    expect(dev.structuredContent).toMatchObject({ agent_id: killed, identity: 'dev' });
  });

  test('while it lives: mail for one who came later is neither brought nor sent nor marked', async () => {
    const proxy = await start({ args: ['--team', 'later'] });
    await begin(proxy, 'arch');
    team = makeTeam(place(), 'later', ['arch']);
    team.deliver('arch', { text: 'for the other arch' });
    await until(() => proxy.stderr().includes('mail could not be looked for'));
    expect(await errorOf(proxy.call('atm_read', { identity: 'arch' }))).toMatchObject(conflict('arch'));
    const [inside] = doorsOf(proxy) as [Door];
    for (const [name, args] of [
      ['atm_read', {}],
      ['atm_send', { to: 'team-lead', message: 'x' }],
    ] as const)
      expect((await callInside(inside, name, args)).text).toContain('IDENTITY_CONFLICT');
    expect(team.inbox('team-lead')).toEqual([]);
    expect(team.unread('arch')).toEqual(['for the other arch']);
    expect(JSON.stringify(proxy.received())).not.toContain('for the other arch');
  });

  test('nobody knows whose a name is while the list cannot be read: no session begins', async () => {
    const proxy = await start();
    writeFileSync(join(team.folder, 'config.json'), '{"members":');
    expect(await errorOf(begin(proxy, 'arch'))).toMatchObject({
      code: -32_603,
      data: { error_name: 'TEAM_UNREADABLE' },
    });
  });
});

describe('the mail tools of the client', () => {
  const off = ['--set', 'auto_mail=false'];

  test('speak and mark for the identities of the proxy alone; whoever only looks may look anywhere', async () => {
    team.deliver('alice', { text: 'for alice' });
    const proxy = await start({ args: off });
    for (const [name, args] of [
      ['atm_send', { to: 'codex', message: 'x' }],
      ['atm_broadcast', { message: 'x' }],
      ['atm_read', {}],
      ['atm_read', { all: true, mark_read: true }],
    ] as const)
      expect(await errorOf(proxy.call(name, { identity: 'alice', ...args }))).toMatchObject(
        conflict('alice'),
      );
    const looked = await proxy.call('atm_read', { identity: 'alice', mark_read: false });
    expect(looked.structuredContent).toMatchObject({ messages: [{ message: 'for alice' }] });
    const counted = await proxy.call('atm_pending_count', { identity: 'alice' });
    expect(counted.structuredContent).toEqual({ pending: 1 });
    expect(team.unread('alice')).toEqual(['for alice']);
    expect(team.inbox('codex')).toEqual([]);
    await begin(proxy, 'arch');
    await proxy.call('atm_send', { identity: 'arch', to: 'alice', message: 'as arch' });
    await proxy.call('agent_close', { identity: 'arch' });
    const late = proxy.call('atm_send', { identity: 'arch', to: 'alice', message: 'as nobody' });
    expect(await errorOf(late)).toMatchObject(conflict('arch'));
  });

  test("act for the client's own name too, which no session gets, with a team or without", async () => {
    team.deliver('alice', { text: 'for alice' });
    const proxy = await start({ args: off, env: { ATM_IDENTITY: 'alice' } });
    expect((await proxy.call('codex', { prompt: 'say hi' })).structuredContent['identity']).toBe('codex');
    expect(await errorOf(begin(proxy, 'alice'))).toMatchObject(conflict('alice'));
    await proxy.call('atm_send', { identity: 'alice', to: 'codex', message: 'as alice' });
    expect(team.inbox('codex')).toMatchObject([{ from: 'alice', text: 'as alice' }]);
    await proxy.call('atm_read', { identity: 'alice' });
    expect(team.unread('alice')).toEqual([]);
    const alone = await start({ args: ['--team', 'nowhere'], env: { ATM_IDENTITY: 'me' } });
    expect(await errorOf(begin(alone, 'me'))).toMatchObject(conflict('me'));
    expect(await errorOf(begin(alone, 'team-lead'))).toMatchObject(conflict('team-lead'));
    await expect(
      start({ args: ['--team', 'nowhere', '--identity', 'me'], env: { ATM_IDENTITY: 'me' } }),
    ).rejects.toMatchObject(conflict('me'));
  });
});
