import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

import type { ResponsesRequest, ResponsesStep } from '@parley/runtimes';
import { beforeEach, describe, expect, test } from 'vitest';

import type { CodexTool } from '../agents/run-codex.ts';
import { lastPrompt } from '../runtimes/scripted-agent.ts';
import { describeWith } from '../tools/describe-with.ts';
import { type ProxyClient, until } from './proxy-client.ts';
import { openRealScene } from './real-scene.ts';
import { makeTeam, type Team } from './team.ts';
import { useProxies } from './use-proxies.ts';

const limits = (pair: number, target: number): string[] => [
  '--set',
  `mail_turns_per_pair=${pair}`,
  `mail_turns_per_target=${target}`,
];

interface Held {
  identity: string;
  agent_id: string;
  from: string | null;
  reason: string;
  limit: number;
  messages: number;
}

const status = async (proxy: ProxyClient) =>
  (await proxy.call('agent_status')).structuredContent as unknown as {
    mail_held: Held[];
    mail: { turns: number; held: number };
  };

/** What the client was told of mail that is held. */
const warnings = (proxy: ProxyClient): Held[] =>
  proxy.heard.flatMap(({ method, params }) =>
    method === 'notifications/message' && params['level'] === 'warning' ? [params['data'] as Held] : [],
  );

const audited = (home: string): { event: string; message_ids?: string[] }[] =>
  readFileSync(join(home, '.config/atm/agent-sessions/default/audit.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string });

describe('a guard against mail that never ends', () => {
  const { start, place } = useProxies();
  let team: Team;
  beforeEach(() => {
    team = makeTeam(place(), 'default', ['alice', 'bob']);
  });

  /** One mail after another, each once the one before has been brought. */
  async function write(proxy: ProxyClient, from: string, ...texts: string[]): Promise<void> {
    for (const text of texts) {
      const { turns } = (await status(proxy)).mail;
      team.deliver('codex', { from, text });
      while ((await status(proxy)).mail.turns === turns) await new Promise((done) => setTimeout(done, 20));
    }
  }

  test('mail beyond the budget of its sender stays unread and on record, the client is told, its next turn brings it', async () => {
    const proxy = await start({ args: limits(3, 5) });
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    await write(proxy, 'alice', 'a1', 'a2', 'a3');
    team.deliver('codex', { from: 'alice', text: 'a4', message_id: 'held-4' });
    await until(() => warnings(proxy).length === 1);
    expect(warnings(proxy)).toMatchObject([
      { identity: 'codex', agent_id, from: 'alice', reason: 'pair', limit: 3, held: 1 },
    ]);
    // Others are heard, until there is too much for the session itself.
    await write(proxy, 'bob', 'b1', 'b2');
    team.deliver('codex', { from: 'bob', text: 'b3', message_id: 'held-b3' });
    team.deliver('codex', { from: 'alice', text: 'a5', message_id: 'held-5' });
    await until(() => warnings(proxy).length === 2);
    expect(warnings(proxy)[1]).toMatchObject({ from: null, reason: 'target', limit: 5 });
    await until(() => audited(place().home).filter(({ event }) => event === 'mail_held').length === 3);
    const held = audited(place().home).flatMap(({ event, message_ids = [] }) =>
      event === 'mail_held' ? message_ids : [],
    );
    expect(held.toSorted()).toEqual(['held-4', 'held-5', 'held-b3']);
    expect(team.unread('codex')).toEqual(['a4', 'b3', 'a5']);
    expect(await status(proxy)).toMatchObject({
      mail: { turns: 5, held: 3 },
      mail_held: [
        { identity: 'codex', agent_id, from: 'alice', reason: 'pair', messages: 2 },
        { identity: 'codex', agent_id, from: null, reason: 'target', messages: 1 },
      ],
    });
    await proxy.call('codex-reply', { agent_id, prompt: 'say go on' });
    await until(() => team.unread('codex').length === 0);
    expect((await status(proxy)).mail_held).toEqual([]);
  });

  test('a new start of the proxy, also after a kill, gives nothing back: only a turn of the client does', async () => {
    const args = limits(3, 10);
    const first = await start({ args });
    const { agent_id } = (await first.call('codex', { prompt: 'say hi' })).structuredContent;
    await write(first, 'alice', 'a1', 'a2');
    await first.kill('SIGKILL');
    const second = await start({ args: [...args, '--resume'] });
    await write(second, 'alice', 'a3');
    team.deliver('codex', { from: 'alice', text: 'a4' });
    await until(() => warnings(second).length === 1);
    expect(await second.end()).toBe(0);

    const third = await start({ args: [...args, '--resume'] });
    await until(() => warnings(third).length === 1);
    await write(third, 'bob', 'b1');
    expect(team.unread('codex')).toEqual(['a4']);
    expect((await status(third)).mail_held).toMatchObject([
      { agent_id, from: 'alice', reason: 'pair', limit: 3, messages: 1 },
    ]);
    await third.call('codex-reply', { agent_id, prompt: 'say go on' });
    await until(() => team.unread('codex').length === 0);
    expect(await third.end()).toBe(0);
    const fourth = await start({ args: [...args, '--resume'] });
    await write(fourth, 'alice', 'a5', 'a6');
    expect((await status(fourth)).mail_held).toEqual([]);
  });

  test('mail that cannot be marked as read is not brought again, and is marked as soon as it can be', async () => {
    const proxy = await start({ args: [...limits(2, 2), 'mail_poll_interval_ms=50'] });
    await proxy.call('codex', { prompt: 'say hi' });
    // What stands in the place of a lock: the inbox can be read and not written.
    const lock = join(team.folder, 'inboxes', 'codex.lock');
    mkdirSync(lock);
    team.deliver('codex', { text: 'only once' });
    await until(() => proxy.stderr().split('could not be marked as read').length > 4);
    expect(team.unread('codex')).toEqual(['only once']);
    rmdirSync(lock);
    await until(() => team.unread('codex').length === 0);
    await write(proxy, 'alice', 'the next');
    expect(JSON.stringify(proxy.received()).split('only once')).toHaveLength(2);
    expect((await status(proxy)).mail_held).toEqual([]);
  });
});

/** A model that answers every mail, and begins when it is told to. */
function chatterbox(request: ResponsesRequest): ResponsesStep[] | undefined {
  const { input } = request.body;
  if (input.at(-1)?.type.endsWith('_call_output') === true) return [{ text: 'sent' }];
  const said = JSON.stringify(input);
  const own = /identity: [\\"]+(\w+)/.exec(said)?.[1];
  const prompt = lastPrompt(request);
  if (!prompt.includes('unread message') && !prompt.startsWith('begin')) return undefined;
  const mail = { to: own === 'ping' ? 'pong' : 'ping', message: `to you, ${input.length}` };
  return [{ call: 'atm_send', namespace: 'mcp__atm', arguments: mail, id: `call_${input.length}` }];
}

const kinds = [
  ['codex', 'auto'],
  ['codex-0153', 'mcp-server'],
] as const satisfies readonly (readonly [CodexTool, string])[];

for (const [tool, transport] of kinds)
  describeWith([tool], `two real Codex sessions that answer each other: ${tool}, ${transport}`, () => {
    test(
      'stop within their budgets, lose nothing, and go on after a turn of the client',
      { timeout: 240_000 },
      async () => {
        const scene = await openRealScene(tool, transport, chatterbox);
        try {
          const team = makeTeam(scene.place, 'default', []);
          const proxy = await scene.start(limits(4, 50));
          const sent = (): number => team.inbox('ping').length + team.inbox('pong').length;
          const stopped = async (): Promise<Held[]> => {
            for (;;) {
              const { mail_held } = await status(proxy);
              const before = sent();
              if (mail_held.some(({ messages }) => messages > 0)) {
                // A loop makes several mails in such a time.
                await new Promise((done) => setTimeout(done, 3_000));
                if (sent() === before) return mail_held;
              } else await new Promise((done) => setTimeout(done, 50));
            }
          };
          await proxy.call('codex', { prompt: 'hello', identity: 'pong' });
          await proxy.call('codex', { prompt: 'begin', identity: 'ping' });
          const [hold] = await stopped();
          expect(hold).toMatchObject({ reason: 'pair', limit: 4, messages: 1 });
          expect(sent()).toBeLessThanOrEqual(10);
          expect(warnings(proxy)).toMatchObject([{ identity: hold?.identity, from: hold?.from }]);
          const unread = [...team.unread('ping'), ...team.unread('pong')];
          expect(unread).toHaveLength(1);
          const held = audited(scene.place.home).filter(({ event }) => event === 'mail_held');
          expect(held.flatMap(({ message_ids = [] }) => message_ids)).toHaveLength(1);

          const before = sent();
          await proxy.call('codex-reply', { agent_id: hold?.agent_id, prompt: 'hello again' });
          await until(() => sent() > before);
          const again = await stopped();
          expect(again).toMatchObject([{ messages: 1 }]);
          expect(sent()).toBeLessThanOrEqual(before + 10);
          for (const name of ['ping', 'pong'])
            expect(new Set(team.inbox(name).map(({ message_id }) => message_id)).size).toBe(
              team.inbox(name).length,
            );
        } finally {
          await scene.close();
        }
      },
    );
  });
