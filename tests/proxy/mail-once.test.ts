import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { openCodex } from '@parley/runtimes';
import { afterEach, beforeEach, expect, test } from 'vitest';

import type { CodexTool } from '../agents/run-codex.ts';
import { lastPrompt } from '../runtimes/scripted-agent.ts';
import { describeWith } from '../tools/describe-with.ts';
import { requireTool } from '../tools/tools.ts';
import { timesGiven } from './mail-seen.ts';
import { type ProxyClient, until } from './proxy-client.ts';
import { openRealScene, type RealScene } from './real-scene.ts';
import { makeTeam, type Team } from './team.ts';

const kinds = [
  ['codex-0153', 'app-server'],
  ['codex', 'auto'],
] as const satisfies readonly (readonly [CodexTool, string])[];

/** The process of a proxy's Codex, once there is one. */
const codexOf = (proxy: ProxyClient): Promise<number> =>
  until(async () => {
    const { structuredContent } = await proxy.call('agent_status');
    return (structuredContent as unknown as { child: { pid: number | null } }).child.pid ?? false;
  });

for (const [tool, transport] of kinds)
  describeWith([tool], `mail over a kill: ${tool}, ${transport}`, () => {
    let scene: RealScene;
    let team: Team;
    beforeEach(async () => {
      scene = await openRealScene(tool, transport, (request) =>
        lastPrompt(request).includes('unread message')
          ? [{ text: 'I read', hold: scene.gate.opened }]
          : undefined,
      );
      team = makeTeam(scene.place, 'default', ['alice']);
    });
    afterEach(() => scene.close());

    const given = (): Record<string, number> => Object.fromEntries(timesGiven(scene.requests));

    /** Takes the session up in a new proxy, and brings it one more mail. */
    async function goOn(agent_id: string): Promise<void> {
      const proxy = await scene.start();
      await proxy.call('codex', { agent_id, prompt: 'go on' });
      scene.gate.open();
      await until(() => team.unread('arch').length === 0);
      team.deliver('arch', { text: 'the next', message_id: 'next-2' });
      await until(() => given()['next-2'] === 1 && team.unread('arch').length === 0);
    }

    test.each([
      ['the proxy', async (proxy: ProxyClient) => void (await proxy.kill('SIGKILL'))],
      [
        'Codex',
        async (proxy: ProxyClient, pid: number) => {
          process.kill(pid, 'SIGKILL');
          await proxy.end();
        },
      ],
      [
        'both',
        async (proxy: ProxyClient, pid: number) => {
          process.kill(pid, 'SIGKILL');
          await proxy.kill('SIGKILL');
        },
      ],
    ] as const)(
      '[FR-8.6] [FR-8.12] [FR-8.13] %s killed when the model has a mail that is not marked yet: the session has it once, and it counts as read',
      async (_who, kill) => {
        const proxy = await scene.start();
        const { agent_id } = (await proxy.call('codex', { prompt: 'hello', identity: 'arch' }))
          .structuredContent;
        const pid = await codexOf(proxy);
        const letGo = team.hold('arch');
        try {
          team.deliver('arch', { text: 'do it once', message_id: 'once-1' });
          await until(() => given()['once-1'] === 1);
          await kill(proxy, pid);
          expect(team.unreadIds('arch')).toEqual(['once-1']);
        } finally {
          letGo();
        }
        await goOn(agent_id);
        expect(given()).toEqual({ 'once-1': 1, 'next-2': 1 });
        const resumed = scene.requests.find((request) => lastPrompt(request) === 'go on');
        expect(JSON.stringify(resumed?.body.input)).toContain('do it once');
      },
    );

    test('[FR-8.13] [PROXY-X8] a Codex that outlives its proxy for a moment, and takes the mail in it or not: the session has it once', async () => {
      const proxy = await scene.start();
      const { agent_id } = (await proxy.call('codex', { prompt: 'hello', identity: 'arch' }))
        .structuredContent;
      const pid = await codexOf(proxy);
      process.kill(pid, 'SIGSTOP');
      team.deliver('arch', { text: 'do it once', message_id: 'once-1' });
      const audit = join(scene.place.home, '.config/atm/agent-sessions/default/audit.jsonl');
      await until(() => readFileSync(audit, 'utf8').includes('once-1'));
      await proxy.kill('SIGKILL');
      const resumed = goOn(agent_id);
      setTimeout(() => process.kill(pid, 'SIGCONT'), 700);
      await resumed;
      expect(given()).toEqual({ 'once-1': 1, 'next-2': 1 });
    });

    test('[FR-8.13] a thread that another Codex has not let go of is waited for, as both could write', async () => {
      const proxy = await scene.start();
      const { agent_id, threadId } = (await proxy.call('codex', { prompt: 'hello' })).structuredContent;
      await proxy.end();
      const { home, work } = scene.place;
      const other = openCodex({
        bin: requireTool(tool),
        env: { PATH: process.env['PATH'] ?? '', HOME: home, CODEX_HOME: join(home, '.codex') },
        cwd: work,
        backend: 'app-server',
        clientInfo: { name: 'another', version: '0' },
        onEvent: () => {},
        onApproval: () => {},
        onExit: () => {},
        log: () => {},
      });
      try {
        await other.resumeThread(threadId, { cwd: work });
        const again = await scene.start();
        const turn = again.call('codex', { agent_id, prompt: 'go on' });
        turn.catch(() => {});
        await codexOf(again);
        await sleep(500);
        await other.close();
        expect((await turn).structuredContent).toMatchObject({ threadId, content: 'echo go on' });
      } finally {
        await other.close();
      }
    });
  });
