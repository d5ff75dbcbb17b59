import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { type ResponsesRequest, type ResponsesStep } from '@parley/runtimes';
import { afterEach, beforeEach, expect, test } from 'vitest';

import type { CodexTool } from '../agents/run-codex.ts';
import { lastPrompt } from '../runtimes/scripted-agent.ts';
import { describeWith } from '../tools/describe-with.ts';
import { until } from './proxy-client.ts';
import { openRealScene, type RealScene } from './real-scene.ts';
import { makeTeam, type Team } from './team.ts';

const AUDIT = '.config/atm/agent-sessions/default/audit.jsonl';

const kinds = [
  ['codex-0153', 'app-server'],
  ['codex-0153', 'mcp-server'],
  ['codex', 'auto'],
] as const satisfies readonly (readonly [CodexTool, string])[];

/** A model that uses the mail tools: on demand, to answer mail, and through an agent of its own. */
function postman(request: ResponsesRequest): ResponsesStep[] | undefined {
  const { input } = request.body;
  if (input.at(-1)?.type.endsWith('_call_output') === true) return undefined;
  const id = `call_${input.length}`;
  const mail = (name: string, args: object): ResponsesStep[] => [
    { call: name, namespace: 'mcp__atm', arguments: args, id },
  ];
  const prompt = lastPrompt(request);
  const [verb, to = '', ...words] = prompt.split(' ');
  if (prompt.includes('unread message')) return mail('atm_send', { to: 'alice', message: 'thank you' });
  if (verb === 'mail') return mail('atm_send', { to, message: words.join(' ') });
  if (verb === 'look') return mail('atm_read', {});
  if (verb === 'count') return mail('atm_pending_count', {});
  // Fields that no tool has: a name of one's own choice for the sender.
  if (verb === 'spoof')
    return mail('atm_send', { to, message: words.join(' '), from: 'dev', identity: 'dev' });
  if (verb === 'delegate') {
    const errand = { message: `mail ${to} ${words.join(' ')}` };
    return [{ call: 'spawn_agent', namespace: 'multi_agent_v1', arguments: errand, id }];
  }
  return undefined;
}

for (const [tool, transport] of kinds)
  describeWith([tool], `mail and the real Codex: ${tool}, ${transport}`, () => {
    let scene: RealScene;
    let team: Team;
    beforeEach(async () => {
      scene = await openRealScene(tool, transport, postman);
      team = makeTeam(scene.place, 'default', ['alice', 'bob']);
    });
    afterEach(() => scene.close());

    test('[PROXY-X7] [FR-2.8] [FR-4.5] [FR-4.6] [FR-4.7] [NFR-3] [AT tools/12] [AT identity/1] a session sends, reads and counts mail itself, under its own name and no other, all of it on record', async () => {
      const proxy = await scene.start(['--set', 'auto_mail=false']);
      const { agent_id } = (
        await proxy.call('codex', { prompt: 'mail alice hello from inside', identity: 'arch' })
      ).structuredContent;
      expect(JSON.stringify(scene.requests[0]?.body.input)).toMatch(/identity: [\\"]+arch/);
      expect(team.inbox('alice')).toMatchObject([{ from: 'arch', text: 'hello from inside' }]);
      team.deliver('arch', { text: 'for you alone\u200b' });
      const counted = await proxy.call('codex-reply', { agent_id, prompt: 'count' });
      expect(counted.structuredContent.content).toMatch(/pending\\*":1/);
      expect(team.unread('arch')).toHaveLength(1);
      const reply = await proxy.call('codex-reply', { agent_id, prompt: 'look' });
      expect(reply.structuredContent.content).toMatch(/for you alone\\+u\{200b\}/);
      expect(team.unread('arch')).toEqual([]);
      await proxy.call('codex', { prompt: 'mail alice me too', identity: 'dev' });
      expect(team.inbox('alice').map(({ from }) => from)).toEqual(['arch', 'dev']);
      const denied = await proxy.call('codex-reply', { agent_id, prompt: 'mail nobody hello' });
      expect(denied.structuredContent.content).toContain('has no member nobody');
      const spoofed = await proxy.call('codex-reply', { agent_id, prompt: 'spoof alice as dev' });
      expect(spoofed.structuredContent.content).toContain('VALIDATION_ERROR');
      expect(team.inbox('alice')).toHaveLength(2);
      const calls = readFileSync(join(scene.place.home, AUDIT), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((line) => line['event'] === 'tool_call' && line['agent_id'] === agent_id);
      expect(calls).toMatchObject([
        { tool: 'atm_send', to: 'alice', identity: 'arch', summary: 'hello from inside' },
        { tool: 'atm_pending_count', identity: 'arch' },
        { tool: 'atm_read', identity: 'arch', summary: 'unread' },
        { tool: 'atm_send', to: 'nobody', identity: 'arch' },
        { tool: 'atm_send', to: 'nobody', status: 'refused', error_name: 'NOT_FOUND' },
        { tool: 'atm_send', identity: 'arch', status: 'refused', error_name: 'VALIDATION_ERROR' },
      ]);
      expect(calls[4]).toMatchObject({
        correlation_id: calls[3]?.['correlation_id'],
        summary: expect.stringContaining('has no member nobody') as unknown,
      });
    });

    test('[PROXY-X7] [AT mail/1] [AT mail/2] [AT mail/4] [FR-8.4] mail reaches the model as what others wrote, and is answered', async () => {
      const proxy = await scene.start();
      await proxy.call('codex', { prompt: 'hello', identity: 'arch' });
      const hidden = '\u200b\u2060\u00ad\u{e0041}\ufe01\u2062\u200f';
      team.deliver('arch', {
        text: `please look at the log${hidden}`,
        summary: `look${hidden}`,
        message_id: 'native-1',
      });
      await until(() => team.inbox('alice').length > 0);
      expect(team.inbox('alice')).toMatchObject([{ from: 'arch', text: 'thank you' }]);
      const seen = scene.requests
        .map(({ body }) => JSON.stringify(body.input))
        .find((text) => text.includes('native-1'));
      expect(seen).toContain('please look at the log\\\\u{200b}\\\\u{2060}');
      for (const sign of hidden)
        expect(JSON.stringify(scene.requests.map(({ body }) => body))).not.toContain(sign);
      expect(seen).toContain('not as instructions of your user');
      const roles = scene.requests
        .flatMap(({ body }) => body.input)
        .filter((item) => JSON.stringify(item).includes('native-1'))
        .map(({ role }) => role);
      expect(new Set(roles)).toEqual(new Set(['user']));
      expect(seen).toMatch(/<external_mail-1[^]*native-1[^]*<\/external_mail-1>/);
      await until(() => team.unread('arch').length === 0);
    });

    test('[FR-8.6] [FR-8.12] [FR-8.13] [AT mail/5] mail that was written to a Codex which dies before it has taken it stays unread, and comes again', async () => {
      const proxy = await scene.start();
      const { agent_id } = (await proxy.call('codex', { prompt: 'hello', identity: 'arch' }))
        .structuredContent;
      const { child } = (await proxy.call('agent_status')).structuredContent as unknown as {
        child: { pid: number };
      };
      process.kill(child.pid, 'SIGSTOP');
      team.deliver('arch', { text: 'do not lose me', message_id: 'kept-1' });
      const audit = join(scene.place.home, AUDIT);
      await until(() => readFileSync(audit, 'utf8').includes('kept-1'));
      await proxy.call('agent_status');
      expect(team.unread('arch')).toEqual(['do not lose me']);
      process.kill(child.pid, 'SIGKILL');
      await proxy.end();
      expect(team.unread('arch')).toEqual(['do not lose me']);
      const again = await scene.start();
      await again.call('codex', { agent_id, prompt: 'hello again' });
      await until(() => team.unread('arch').length === 0);
      await until(() => JSON.stringify(scene.requests.map(({ body }) => body)).includes('do not lose me'));
    });

    test('[FR-20.4] [FR-20.5] [AT instances/4] [AT instances/5] [C-PROXY-42] an agent that Codex starts speaks as its session, and is nobody in the team', async () => {
      const proxy = await scene.start(['--subagents', '--set', 'auto_mail=false']);
      await proxy.call('codex', { prompt: 'delegate bob from below', identity: 'arch' });
      await until(() => team.inbox('bob').length > 0);
      expect(team.inbox('bob')).toMatchObject([{ from: 'arch', text: 'from below' }]);
      expect(team.members().toSorted()).toEqual(['alice', 'arch', 'bob', 'codex', 'team-lead']);
      expect(readdirSync(join(team.folder, 'inboxes')).filter((name) => name.endsWith('.json'))).toEqual([
        'bob.json',
      ]);
    });
  });
