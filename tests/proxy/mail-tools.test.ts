import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import { errorOf, type ProxyClient, until } from './proxy-client.ts';
import { makeTeam, type Team } from './team.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();
let team: Team;
beforeEach(() => {
  team = makeTeam(place(), 'default', ['alice', 'bob']);
});

const off = ['--set', 'auto_mail=false'];
type Messages = { messages: { from: string; message: string; message_id: string; timestamp: string }[] };
const read = async (proxy: ProxyClient, args: Record<string, unknown> = {}) =>
  ((await proxy.call('atm_read', { identity: 'codex', ...args })).structuredContent as unknown as Messages)
    .messages;
const auditOf = (): Record<string, unknown>[] =>
  readFileSync(join(place().home, '.config/atm/agent-sessions/default/audit.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const texts = async (...args: Parameters<typeof read>) => (await read(...args)).map(({ message }) => message);

describe('[FR-4.1] [FR-15.1] the mail tools of the client', () => {
  test('[AT tools/1] [FR-4.2] atm_send puts mail into the inbox, under the identity that was named', async () => {
    const proxy = await start({ args: off });
    const sent = await proxy.call('atm_send', { identity: 'codex', to: 'bob', message: 'x'.repeat(70) });
    expect(sent.structuredContent).toMatchObject({ to: 'bob@default', summary: `${'x'.repeat(60)}...` });
    expect(team.inbox('bob')).toMatchObject([{ from: 'codex', text: 'x'.repeat(70), read: false }]);
    expect(team.inbox('bob')[0]?.message_id).toBe(sent.structuredContent['message_id']);
    const more = { summary: 'in short', priority: 'urgent' };
    await proxy.call('atm_send', { identity: 'codex', to: 'bob', message: 'now', ...more });
    expect(team.inbox('bob')[1]).toMatchObject({ text: 'now', ...more });
  });

  test('[AT tools/2] [FR-4.2] [FR-4.6] [C-MAIL-01] agent@team goes to the other team; what is no address, or nobody, is refused and on record', async () => {
    const other = makeTeam(place(), 'other', ['carol']);
    const proxy = await start({ args: off });
    await proxy.call('atm_send', { identity: 'codex', to: 'carol@other', message: 'hello' });
    expect(other.inbox('carol')).toMatchObject([{ from: 'codex', source_team: 'default', text: 'hello' }]);
    for (const to of ['@', 'a@b@c', '../x@default', 'bob@../../etc', ''])
      expect((await errorOf(proxy.call('atm_send', { identity: 'codex', to, message: 'x' }))).code).toBe(
        -32_602,
      );
    const nobody = await proxy.call('atm_send', { identity: 'codex', to: 'nobody', message: 'x' });
    expect(nobody).toMatchObject({ isError: true });
    expect(nobody.content[0]?.text).toContain('alice');
    const lines = auditOf().filter(({ to }) => to === 'nobody');
    expect(lines).toMatchObject([
      { tool: 'atm_send', identity: 'codex' },
      { tool: 'atm_send', identity: 'codex', status: 'refused', error_name: 'NOT_FOUND' },
    ]);
    expect(lines[0]?.['correlation_id']).toBe(lines[1]?.['correlation_id']);
  });

  test('[AT tools/3] [AT tools/4] [AT tools/8] [FR-4.3] [FR-8.7] what is read counts as read, unless it shall not', async () => {
    team.deliver('codex', { text: 'one' }, { text: 'two', from: 'bob' });
    const proxy = await start({ args: off });
    expect(await read(proxy, { mark_read: false })).toMatchObject([
      { from: 'alice', message: 'one', message_id: 'm1', timestamp: '2026-01-01T00:00:01.000Z' },
      { from: 'bob', message: 'two' },
    ]);
    expect(team.unread('codex')).toEqual(['one', 'two']);
    expect(await texts(proxy)).toEqual(['one', 'two']);
    expect(team.unread('codex')).toEqual([]);
    expect(await texts(proxy)).toEqual([]);
    expect(await texts(proxy, { all: true })).toEqual(['one', 'two']);
  });

  test('[AT tools/5] [AT tools/6] [AT tools/7] [C-MAIL-03] by number, instant and sender', async () => {
    team.deliver(
      'codex',
      ...Array.from({ length: 8 }, (_, n) => ({ text: `t${n + 1}`, from: n % 2 ? 'bob' : 'alice' })),
    );
    const proxy = await start({ args: off });
    const keep = { mark_read: false };
    expect(await texts(proxy, { ...keep, limit: 5 })).toEqual(['t1', 't2', 't3', 't4', 't5']);
    expect(await texts(proxy, { ...keep, since: '2026-01-01T01:00:06+01:00' })).toEqual(['t7', 't8']);
    expect(await texts(proxy, { ...keep, from: 'bob' })).toEqual(['t2', 't4', 't6', 't8']);
    for (const limit of [0, -1, 1.5]) expect((await errorOf(read(proxy, { limit }))).code).toBe(-32_602);
    expect((await errorOf(read(proxy, { since: 'yesterday' }))).code).toBe(-32_602);
  });

  test('[AT tools/9] [AT tools/10] [FR-4.4] a broadcast reaches every other member, here or elsewhere', async () => {
    const other = makeTeam(place(), 'other', ['carol']);
    const proxy = await start({ args: off });
    await until(() => team.members().includes('codex'));
    await proxy.call('atm_broadcast', { identity: 'codex', message: 'all', summary: 'in short' });
    expect(team.inbox('bob')).toMatchObject([{ text: 'all', summary: 'in short' }]);
    for (const agent of ['alice', 'bob', 'team-lead']) expect(team.unread(agent)).toEqual(['all']);
    expect(team.unread('codex')).toEqual([]);
    await proxy.call('atm_broadcast', { identity: 'codex', message: 'there', team: 'other' });
    expect(other.unread('carol')).toEqual(['there']);
    expect(team.unread('bob')).toEqual(['all']);
  });

  test('[AT tools/11] [AT registry/6] [FR-4.7] [FR-8.7] [FR-10.2] [C-MAIL-04] atm_pending_count counts and marks nothing; agent_status adds up', async () => {
    team.deliver('codex', { text: 'one' }, { text: 'two' });
    const proxy = await start({ args: off });
    for (let again = 0; again < 2; again++)
      expect((await proxy.call('atm_pending_count', { identity: 'codex' })).structuredContent).toEqual({
        pending: 2,
      });
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    team.deliver('arch', { text: 'three' });
    await proxy.call('codex', { prompt: 'say hi', identity: 'arch' });
    const { structuredContent } = await proxy.call('agent_status');
    expect(structuredContent).toMatchObject({
      child: { alive: true, pid: expect.any(Number), exit_code: null, signal: null },
      team: 'default',
      uptime_secs: expect.any(Number),
      active_threads: 2,
      identities: [
        { identity: 'codex', agent_id, status: 'idle' },
        { identity: 'arch', status: 'idle' },
      ],
      pending_mail: 3,
    });
    expect(team.unread('codex')).toHaveLength(2);
  });

  test('[FR-4.5] [NFR-3] [C-MAIL-02] [NFR-6] outside of a session an identity is needed, and nobody can be another', async () => {
    const proxy = await start({ args: off });
    for (const [name, args] of [
      ['atm_send', { to: 'bob', message: 'x' }],
      ['atm_read', {}],
      ['atm_broadcast', { message: 'x' }],
      ['atm_pending_count', {}],
    ] as const)
      expect(await errorOf(proxy.call(name, args))).toMatchObject({
        code: -32_009,
        data: { error_source: 'proxy', error_name: 'IDENTITY_REQUIRED' },
      });
    const spoof = { identity: 'codex', to: 'bob', message: 'x', from: 'team-lead' };
    expect((await errorOf(proxy.call('atm_send', spoof))).code).toBe(-32_602);
    for (const identity of ['team-lead', 'alice', 'nobody'])
      expect(await errorOf(proxy.call('atm_send', { identity, to: 'bob', message: 'x' }))).toMatchObject({
        code: -32_001,
        data: { error_source: 'proxy', error_name: 'IDENTITY_CONFLICT', identity },
      });
    await start({ args: [...off, '--identity', 'other'] });
    const theirs = await errorOf(proxy.call('atm_send', { identity: 'other', to: 'bob', message: 'x' }));
    expect(theirs).toMatchObject({ code: -32_001 });
    expect(team.inbox('bob')).toEqual([]);
  });

  test('[FR-4.6] [FR-9.1] [C-PROXY-35] [FR-9.3] calls of two proxies stand in one audit log, line by line', async () => {
    const one = await start({ args: [...off, '--identity', 'one'] });
    const two = await start({ args: [...off, '--identity', 'two'] });
    const calls = Array.from({ length: 100 }, (_, n) =>
      [one, two].map((proxy) =>
        proxy.call('atm_send', {
          identity: proxy === one ? 'one' : 'two',
          to: 'bob',
          message: `${n} ${'y'.repeat(300)}`,
        }),
      ),
    );
    await Promise.all(calls.flat());
    const lines = auditOf();
    expect(lines).toHaveLength(200);
    for (const line of lines) {
      expect(line).toMatchObject({ event: 'tool_call', tool: 'atm_send', to: 'bob', agent_id: null });
      expect(['one', 'two']).toContain(line['identity']);
      expect(Date.parse(line['ts'] as string)).toBeGreaterThan(0);
      expect((line['summary'] as string).length).toBeLessThanOrEqual(200);
    }
    expect(team.inbox('bob')).toHaveLength(200);
  });

  test('[FR-4.6] [FR-9.1] sending, reading, broadcasting and counting stand there each with recipient and summary', async () => {
    const proxy = await start({ args: off });
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    for (const [name, args] of [
      ['atm_send', { to: 'bob', message: 'a long text', summary: 'short' }],
      ['atm_read', { from: 'bob' }],
      ['atm_broadcast', { message: 'to all of you' }],
      ['atm_pending_count', {}],
    ] as const)
      await proxy.call(name, { identity: 'codex', ...args });
    const lines = auditOf().filter(({ event }) => event === 'tool_call');
    const by = { identity: 'codex', agent_id, ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as unknown };
    expect(lines).toMatchObject([
      { tool: 'atm_send', to: 'bob', summary: 'short', ...by },
      { tool: 'atm_read', summary: 'unread from bob', ...by },
      { tool: 'atm_broadcast', to: '*', summary: 'to all of you', ...by },
      { tool: 'atm_pending_count', ...by },
    ]);
    expect(new Set(lines.map(({ correlation_id }) => correlation_id)).size).toBe(4);
  });

  test('no team: reading finds nothing, sending says what is missing', async () => {
    const proxy = await start({ args: [...off, '--team', 'nowhere'] });
    expect(await texts(proxy)).toEqual([]);
    const sent = await proxy.call('atm_send', { identity: 'codex', to: 'bob', message: 'x' });
    expect(sent).toMatchObject({ isError: true });
    expect(sent.content[0]?.text).toContain('there is no team nowhere');
  });
});

describe('[FR-20.2] several instances', () => {
  test('[AT instances/1] [FR-7.3] each is a member of the team as long as it runs, and so are their sessions', async () => {
    const one = await start({ args: ['--identity', 'one'] });
    const two = await start({ args: ['--identity', 'two'] });
    await two.call('codex', { prompt: 'say hi', identity: 'arch' });
    await until(() => ['one', 'two', 'arch'].every((name) => team.members().includes(name)));
    await two.call('agent_close', { identity: 'arch' });
    await until(() => !team.members().includes('arch'));
    await one.call('codex', { prompt: 'say hi' });
    await one.call('agent_close', { identity: 'one' });
    expect(team.members()).toContain('one');
    await one.end();
    expect(team.members()).not.toContain('one');
    await two.kill('SIGTERM');
    expect(team.members()).toEqual(['team-lead', 'alice', 'bob']);
  });

  test('[AT instances/3] two proxies see the same mail', async () => {
    team.deliver('shared', { text: 'for all' });
    const proxies = [
      await start({ args: [...off, '--identity', 'one'] }),
      await start({ args: [...off, '--identity', 'two'] }),
    ];
    for (const proxy of proxies)
      expect(await texts(proxy, { identity: 'shared', mark_read: false })).toEqual(['for all']);
    for (const proxy of proxies)
      expect(await texts(proxy, { identity: 'shared', all: true, mark_read: false })).toEqual(['for all']);
    expect(team.unread('shared')).toEqual(['for all']);
  });
});
