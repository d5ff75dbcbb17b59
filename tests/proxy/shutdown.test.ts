import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ResponsesStep } from '@parley/runtimes';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { runClaude } from '../agents/run-claude.ts';
import type { CodexTool } from '../agents/run-codex.ts';
import { carriers } from '../agents/run-process.ts';
import { lastPrompt, textOf } from '../runtimes/scripted-agent.ts';
import { describeWith } from '../tools/describe-with.ts';
import { requireTool } from '../tools/tools.ts';
import { type Place, PROGRAM, type ProxyClient, until } from './proxy-client.ts';
import { openRealScene, type RealScene } from './real-scene.ts';
import { makeTeam } from './team.ts';
import { useProxies } from './use-proxies.ts';

interface Row {
  identity: string;
  status: string;
}

/** Long enough to find the process that finishes before the proxy has done so itself, on a loaded machine too. */
const PATIENT = 'summary_timeout_secs=3';
const SUMMARY = 'the goal was to say hello';
const folderOf = ({ home }: Place): string => join(home, '.config/atm/agent-sessions/default');
const rowsOf = (place: Place): Row[] =>
  (JSON.parse(readFileSync(join(folderOf(place), 'codex/registry.json'), 'utf8')) as { sessions: Row[] })
    .sessions;
const statusesOf = (place: Place): string =>
  rowsOf(place)
    .map(({ status }) => status)
    .join();

/** As Claude Code ends its servers: it asks twice, and half a second after the first time they are gone. */
async function endAsClaude(proxy: ProxyClient): Promise<void> {
  proxy.process.kill('SIGINT');
  await sleep(100);
  proxy.process.kill('SIGTERM');
  await sleep(400);
  await proxy.kill('SIGKILL');
}

/** A model that takes its time for a summary. */
const slowly =
  (ms: number) =>
  (request: Parameters<typeof lastPrompt>[0]): ResponsesStep[] | undefined =>
    lastPrompt(request).includes('about to be closed')
      ? [{ text: SUMMARY, hold: sleep(ms, undefined, { ref: false }) }]
      : undefined;

const kinds = [
  ['codex', 'auto'],
  ['codex-0153', 'app-server'],
  ['codex-0153', 'mcp-server'],
] as const satisfies readonly (readonly [CodexTool, string])[];

for (const [tool, transport] of kinds)
  describeWith([tool], `a client that gives half a second: ${tool}, ${transport}`, () => {
    test('[FR-7.1] [FR-7.3] the summary, the registry and the list of members are right all the same, and nothing stays', async () => {
      const scene = await openRealScene(tool, transport, slowly(2_000));
      try {
        const team = makeTeam(scene.place);
        const proxy = await scene.start();
        const { threadId } = (await proxy.call('codex', { prompt: 'hello', identity: 'arch' }))
          .structuredContent;
        void proxy.call('codex', { prompt: 'wait here', identity: 'busy' }).catch(() => {});
        await until(() => proxy.heard.some(({ params }) => JSON.stringify(params).includes('begun here')));
        await until(() => team.members().includes('busy'));
        await endAsClaude(proxy);
        await until(() => statusesOf(scene.place) === 'closed,closed');
        await until(() => team.members().join() === 'team-lead');
        const summary = join(folderOf(scene.place), 'arch', threadId, 'summary.md');
        expect(readFileSync(summary, 'utf8')).toBe(`${SUMMARY}\n`);
        await until(async () => (await carriers(scene.place.root)).length === 0);
        expect(existsSync(join(folderOf(scene.place), 'codex/closing.json'))).toBe(false);
      } finally {
        await scene.close();
      }
    });
  });

describeWith(['codex'], 'the next proxy of an identity whose last one is still being put away', () => {
  test('[FR-6.1] waits for it, and has the summary in a message of the developer', async () => {
    const scene = await openRealScene('codex', 'auto', slowly(1_500));
    try {
      const proxy = await scene.start();
      const { agent_id } = (await proxy.call('codex', { prompt: 'hello' })).structuredContent;
      await endAsClaude(proxy);
      const next = await scene.start(['--resume']);
      expect(statusesOf(scene.place)).toBe('closed');
      expect(next.stderr()).toContain('waiting for the last proxy of this identity to end');
      const { structuredContent } = await next.call('codex', { prompt: 'back' });
      expect(structuredContent).toMatchObject({ agent_id, content: 'echo back' });
      const input = scene.requests.at(-1)?.body.input ?? [];
      const reported = (role: string): string =>
        input
          .filter((item) => item.role === role)
          .map(textOf)
          .filter((text) => text.includes('Summary of this session'))
          .join();
      expect(reported('developer')).toContain(SUMMARY);
      expect(reported('user')).toBe('');
    } finally {
      await scene.close();
    }
  });
});

describeWith(['codex'], 'a model that never sums up', () => {
  test('[FR-7.2] the session is interrupted, and in bounded time nothing is left', async () => {
    const scene = await openRealScene('codex', 'auto', slowly(600_000));
    try {
      const proxy = await scene.start(['--set', PATIENT]);
      await proxy.call('codex', { prompt: 'hello' });
      proxy.process.kill('SIGINT');
      await until(async () =>
        (await carriers(scene.place.root)).some(({ commandLine }) => commandLine.endsWith('finish')),
      );
      await proxy.kill('SIGKILL');
      await until(() => statusesOf(scene.place) === 'interrupted');
      await until(async () => (await carriers(scene.place.root)).length === 0);
      expect(statusesOf(scene.place)).toBe('interrupted');
    } finally {
      await scene.close();
    }
  });
});

describeWith(['claude', 'codex'], 'the real Claude Code', () => {
  let scene: RealScene;
  beforeEach(async () => {
    scene = await openRealScene('codex', 'auto', slowly(2_000));
  });
  afterEach(() => scene.close());

  test('[FR-7.1] [FR-7.3] its exit leaves a summary, a closed session and no process', async () => {
    const { results, leftBehind } = await runClaude({
      server: {
        kind: 'stdio',
        command: process.execPath,
        args: [PROGRAM, 'serve'],
        env: {
          HOME: scene.place.home,
          ATM_HOME: scene.place.home,
          CODEX_BIN: requireTool('codex'),
          CODEX_HOME: join(scene.place.home, '.codex'),
        },
      },
      calls: [{ tool: 'codex', arguments: { prompt: 'hello', cwd: scene.place.work } }],
      graceMs: 15_000,
    });
    expect(results).toMatchObject([{ isError: false }]);
    expect(leftBehind).toEqual([]);
    expect(statusesOf(scene.place)).toBe('closed');
    const { backend_id } = rowsOf(scene.place)[0] as unknown as { backend_id: string };
    const summary = join(folderOf(scene.place), 'codex', backend_id, 'summary.md');
    expect(readFileSync(summary, 'utf8')).toBe(`${SUMMARY}\n`);
  });
});

describe('a session that nobody can sum up', () => {
  const { start, place } = useProxies();

  test('is interrupted, and what it did last is there when it is resumed', async () => {
    // This Codex cannot load a thread again, and ends with its proxy.
    const proxy = await start({ env: { SCRIPT_SUMMARY: 'never' } });
    const { agent_id } = (await proxy.call('codex', { prompt: 'say forty-two', identity: 'arch' }))
      .structuredContent;
    await endAsClaude(proxy);
    await until(() => statusesOf(place()) === 'interrupted');
    const next = await start();
    await next.call('codex', { agent_id, prompt: 'say on' });
    const reported = JSON.stringify(
      next
        .received()
        .filter(({ method }) => method === 'tools/call')
        .at(-1),
    );
    expect(reported).toContain('closed before it could sum up');
    expect(reported).toContain('forty-two');
  });

  test('[FR-7.2] keeps nobody waiting: whoever finishes it gives up in bounded time', async () => {
    const proxy = await start({ args: ['--set', PATIENT], env: { SCRIPT_SUMMARY: 'never' } });
    await proxy.call('codex', { prompt: 'say hi' });
    proxy.process.kill('SIGINT');
    const [helper] = await until(async () => {
      const found = (await carriers(place().root)).filter(({ commandLine }) =>
        commandLine.endsWith('finish'),
      );
      return found.length > 0 && found;
    });
    // A person may see the list of processes: it tells nothing of the job.
    expect(helper?.commandLine).toBe(`${process.execPath} ${PROGRAM} finish`);
    await proxy.kill('SIGKILL');
    await until(() => statusesOf(place()) === 'interrupted');
    await until(async () => (await carriers(place().root)).length === 0);
  });
});

describe('a proxy that was killed', () => {
  const { start, place } = useProxies();

  test('its sessions leave the list of members when the next one of the team starts', async () => {
    const team = makeTeam(place(), 'default', ['alice']);
    const proxy = await start();
    await proxy.call('codex', { prompt: 'say hi', identity: 'arch' });
    const other = await start({ args: ['--identity', 'other'] });
    await until(() => team.members().length === 5);
    await proxy.kill('SIGKILL');
    await start({ args: ['--identity', 'third'] });
    await until(() => !team.members().includes('arch'));
    await until(() => team.members().includes('third'));
    expect(team.members().toSorted()).toEqual(['alice', 'other', 'team-lead', 'third']);
    await other.end();
  });
});
