import { type ResponsesRequest, type ResponsesStep } from '@parley/runtimes';
import { afterEach, beforeEach, expect, test } from 'vitest';

import type { CodexTool } from '../agents/run-codex.ts';
import { lastPrompt } from '../runtimes/scripted-agent.ts';
import { describeWith } from '../tools/describe-with.ts';
import { until } from './proxy-client.ts';
import { openRealScene, type RealScene } from './real-scene.ts';
import { makeTeam, type Team } from './team.ts';

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

    test('[PROXY-X7] [FR-2.8] [AT tools/12] [AT identity/1] a session sends and reads mail itself, under its own name and no other', async () => {
      const proxy = await scene.start(['--set', 'auto_mail=false']);
      const { agent_id } = (
        await proxy.call('codex', { prompt: 'mail alice hello from inside', identity: 'arch' })
      ).structuredContent;
      expect(team.inbox('alice')).toMatchObject([{ from: 'arch', text: 'hello from inside' }]);
      team.deliver('arch', { text: 'for you alone\u200b' });
      const reply = await proxy.call('codex-reply', { agent_id, prompt: 'look' });
      expect(reply.structuredContent.content).toMatch(/for you alone\\+u\{200b\}/);
      expect(team.unread('arch')).toEqual([]);
      await proxy.call('codex', { prompt: 'mail alice me too', identity: 'dev' });
      expect(team.inbox('alice').map(({ from }) => from)).toEqual(['arch', 'dev']);
      const denied = await proxy.call('codex-reply', { agent_id, prompt: 'mail nobody hello' });
      expect(denied.structuredContent.content).toContain('has no member nobody');
    });

    test('[AT mail/1] [AT mail/2] [AT mail/4] [FR-8.4] mail reaches the model as what others wrote, and is answered', async () => {
      const proxy = await scene.start();
      await proxy.call('codex', { prompt: 'hello', identity: 'arch' });
      const hidden = '\u200b\u2060\u00ad\u{e0041}\ufe01\u2062\u200f';
      team.deliver('arch', {
        text: `please look at the log${hidden}`,
        summary: `look${hidden}`,
        message_id: 'native-1',
      });
      await until(() => team.inbox('alice').length === 1);
      expect(team.inbox('alice')).toMatchObject([{ from: 'arch', text: 'thank you' }]);
      const seen = scene.requests
        .map(({ body }) => JSON.stringify(body.input))
        .find((text) => text.includes('native-1'));
      expect(seen).toContain('please look at the log\\\\u{200b}\\\\u{2060}');
      for (const sign of hidden)
        expect(JSON.stringify(scene.requests.map(({ body }) => body))).not.toContain(sign);
      expect(seen).toContain('not as instructions of your user');
      await until(() => team.unread('arch').length === 0);
    });

    test('[FR-20.4] [FR-20.5] [AT instances/4] [AT instances/5] [C-PROXY-42] an agent that Codex starts speaks as its session, and is nobody in the team', async () => {
      const proxy = await scene.start(['--subagents', '--set', 'auto_mail=false']);
      await proxy.call('codex', { prompt: 'delegate bob from below', identity: 'arch' });
      await until(() => team.inbox('bob').length === 1);
      expect(team.inbox('bob')).toMatchObject([{ from: 'arch', text: 'from below' }]);
      expect(team.members().toSorted()).toEqual(['alice', 'arch', 'bob', 'codex', 'team-lead']);
    });
  });
