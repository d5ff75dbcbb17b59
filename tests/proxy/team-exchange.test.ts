import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import {
  type MessagesRequest,
  type MessagesStep,
  type ResponsesRequest,
  type ResponsesStep,
  scriptedModelConfig,
  startOpenaiResponses,
} from '@parley/runtimes';

import { expect, onTestFinished, test, vi } from 'vitest';

import { startClaudeTeam } from '../mail/claude-team.ts';
import { lastPrompt } from '../runtimes/scripted-agent.ts';
import { describeWith } from '../tools/describe-with.ts';
import { requireTool } from '../tools/tools.ts';
import { startProxy } from './proxy-client.ts';

const GO = 'WRITE-TO-ARCH';
const SENT = 'toolu_to_arch';
const WAIT = { timeout: 120_000, interval: 100 };

/** A lead that writes to its Codex teammate once it is told to. */
function lead({ body }: MessagesRequest): MessagesStep[] {
  const said = JSON.stringify(body.messages);
  if (!said.includes(GO) || said.includes(SENT)) return [{ text: 'ok' }];
  return [
    { use: 'SendMessage', input: { to: 'arch', summary: 'a task', message: 'PING from the lead' }, id: SENT },
  ];
}

/** A teammate that answers its mail with mail. */
function teammate(request: ResponsesRequest): ResponsesStep[] {
  const { input } = request.body;
  if (input.at(-1)?.type.endsWith('_call_output') === true) return [{ text: 'answered' }];
  if (!lastPrompt(request).includes('unread message')) return [{ text: 'ready' }];
  const answer = { to: 'team-lead', message: 'PONG from arch' };
  return [{ call: 'atm_send', namespace: 'mcp__atm', arguments: answer, id: `call_${input.length}` }];
}

describeWith(['claude', 'codex'], 'a real Claude Code lead and a real Codex teammate', ({ claude }) => {
  test(
    '[PROXY-X7] [FR-8.2] [FR-20.2] [NFR-4] they write to each other through the proxy',
    { timeout: 240_000 },
    async () => {
      const team = await startClaudeTeam(claude, lead);
      const model = await startOpenaiResponses(teammate);
      onTestFinished(() => model.close());
      const codexHome = join(team.home, '.codex');
      mkdirSync(codexHome);
      writeFileSync(join(codexHome, 'config.toml'), scriptedModelConfig(model.url));
      const place = { root: team.home, home: team.home, work: team.home, log: '', remove: async () => {} };
      const proxy = await startProxy({
        place,
        args: ['--team', team.team],
        env: { CODEX_BIN: requireTool('codex'), CODEX_HOME: codexHome },
      });
      onTestFinished(() => proxy.kill('SIGKILL').then(() => {}));
      const started = await proxy.call('codex', { prompt: 'be my teammate', identity: 'arch' });
      expect(started.structuredContent.content).toBe('ready');
      await vi.waitFor(async () => {
        const members = await proxy.call('atm_broadcast', { identity: 'codex', message: 'hello all' });
        expect(JSON.stringify(members.structuredContent)).toContain('arch@');
      }, WAIT);
      await team.say(GO);
      const seenBy = (requests: readonly { body: object }[]): string =>
        requests.map(({ body }) => JSON.stringify(body)).join('\n');
      await vi.waitFor(() => expect(seenBy(model.requests)).toContain('PING from the lead'), WAIT);
      await vi.waitFor(() => expect(seenBy(team.requests)).toContain('PONG from arch'), WAIT);
      expect(seenBy(model.requests)).toMatch(/from: [\\"]+team-lead/);
      expect(seenBy(team.requests)).toMatch(/arch/);
    },
  );
});
