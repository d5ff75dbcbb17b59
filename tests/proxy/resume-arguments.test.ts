import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { CodexTool } from '../agents/run-codex.ts';
import { lastPrompt, textOf } from '../runtimes/scripted-agent.ts';
import { describeWith } from '../tools/describe-with.ts';
import { errorOf, type ProxyClient } from './proxy-client.ts';
import { openRealScene, type RealScene } from './real-scene.ts';
import { useProxies } from './use-proxies.ts';

const kinds = [
  ['codex', 'app-server'],
  ['codex-0153', 'app-server'],
  ['codex-0153', 'mcp-server'],
] as const satisfies readonly (readonly [CodexTool, string])[];

const REFUSED = { code: -32_007, data: { error_source: 'proxy', error_name: 'INVALID_SESSION_PARAMS' } };

for (const [tool, transport] of kinds)
  describeWith([tool], `what a resumed session is given: ${tool}, ${transport}`, () => {
    let scene: RealScene;
    let elsewhere: string;
    beforeEach(async () => {
      scene = await openRealScene(tool, transport);
      elsewhere = join(scene.place.root, 'elsewhere');
      mkdirSync(elsewhere);
    });
    afterEach(() => scene.close());

    const reported = (role?: string): string =>
      (scene.requests.at(-1)?.body.input ?? [])
        .filter((item) => role === undefined || item.role === role)
        .map(textOf)
        .join('\n');
    const sandboxes = (): string[] =>
      [...reported().matchAll(/sandbox_mode`? is `?([a-z-]+)/g)].map(([, mode]) => mode ?? '');
    const begin = async (proxy: ProxyClient, args = {}): Promise<string> =>
      (await proxy.call('codex', { prompt: 'hello', ...args })).structuredContent.agent_id;
    const listed = async (proxy: ProxyClient): Promise<unknown> =>
      ((await proxy.call('agent_sessions')).structuredContent as unknown as { sessions: unknown[] })
        .sessions[0];
    const given = () => ({
      model: 'gpt-5.1-codex',
      cwd: elsewhere,
      tag: 'second',
      sandbox: 'read-only',
      'developer-instructions': 'Speak of whales.',
    });
    const checkGiven = async (proxy: ProxyClient, agent_id: string): Promise<void> => {
      expect(scene.requests.at(-1)?.body.model).toBe('gpt-5.1-codex');
      expect(reported('developer')).toContain('Speak of whales.');
      expect(reported()).toContain(`cwd: ${JSON.stringify(elsewhere)}`);
      expect(sandboxes().at(-1)).toBe('read-only');
      expect(await listed(proxy)).toMatchObject({ agent_id, tag: 'second', cwd: elsewhere });
    };

    test('after a restart all of it takes effect, and holds on', async () => {
      const before = await scene.start();
      const agent_id = await begin(before, { tag: 'first', model: 'gpt-5.2-codex' });
      await before.end();
      const after = await scene.start();
      const base = after.call('codex', { agent_id, prompt: 'on', 'base-instructions': 'x' });
      expect(await errorOf(base)).toMatchObject(REFUSED);
      await after.call('codex', { agent_id, prompt: 'on', ...given() });
      await checkGiven(after, agent_id);
      await after.end();
      const last = await scene.start();
      await last.call('codex', { agent_id, prompt: 'and on' });
      expect(scene.requests.at(-1)?.body.model).toBe('gpt-5.1-codex');
      expect(sandboxes().at(-1)).toBe('read-only');
      expect(reported()).toContain(`cwd: ${JSON.stringify(elsewhere)}`);
    });

    test('the same for the first call after serve --resume', async () => {
      const before = await scene.start();
      const agent_id = await begin(before);
      await before.end();
      const after = await scene.start(['--resume']);
      const file = join(elsewhere, 'writer.md');
      writeFileSync(file, 'go on from the file');
      const { structuredContent } = await after.call('codex', { agent_file: file, ...given() });
      expect(structuredContent.agent_id).toBe(agent_id);
      expect(lastPrompt(scene.requests.at(-1) as never)).toBe('go on from the file');
      await checkGiven(after, agent_id);
      expect(await listed(after)).toMatchObject({ agent_name: 'writer', agent_source: file });
    });

    test('a live session takes instructions and a tag, by codex and codex-reply, and what is settled is refused; closed and taken up in one process all of it takes effect, or is refused where the server cannot', async () => {
      const proxy = await scene.start();
      const agent_id = await begin(proxy, { model: 'gpt-5.2-codex' });
      const { sandbox, model, cwd, ...rest } = given();
      for (const args of [{ sandbox }, { model }, { cwd }, { config: {} }, { 'base-instructions': 'x' }])
        for (const name of ['codex', 'codex-reply'])
          expect(await errorOf(proxy.call(name, { agent_id, prompt: 'on', ...args }))).toMatchObject(REFUSED);
      expect(scene.requests).toHaveLength(1);
      await proxy.call('codex', {
        agent_id,
        prompt: 'on',
        model: 'gpt-5.2-codex',
        cwd: scene.place.work,
        tag: 'live',
        'developer-instructions': 'Speak of squids.',
      });
      expect(reported()).toContain('Speak of squids.');
      expect(await listed(proxy)).toMatchObject({ agent_id, tag: 'live' });
      await proxy.call('codex-reply', { agent_id, prompt: 'on', 'developer-instructions': 'Speak of eels.' });
      expect(reported(transport === 'mcp-server' ? 'user' : 'developer')).toContain('Speak of eels.');

      expect(reported()).not.toContain('Speak of whales.');
      await proxy.call('agent_close', { agent_id });
      if (transport === 'mcp-server') {
        for (const args of [{ model }, { cwd }, { sandbox }])
          expect(await errorOf(proxy.call('codex', { agent_id, prompt: 'on', ...args }))).toMatchObject(
            REFUSED,
          );
        await proxy.call('codex', { agent_id, prompt: 'on', ...rest });
        expect(reported()).toContain('Speak of whales.');
        return;
      }
      await proxy.call('codex', { agent_id, prompt: 'on', ...given() });
      await checkGiven(proxy, agent_id);
    });
  });

describe('resuming', () => {
  const { start } = useProxies();

  test('with agent_file, base-instructions, an unknown role or folder is refused, and the session stays as it was', async () => {
    const proxy = await start();
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    for (const args of [
      { agent_file: 'x.md' },
      { prompt: 'say on', 'base-instructions': 'x' },
      { prompt: 'say on', role: 'none' },
      { prompt: 'say on', cwd: '/nowhere' },
    ]) {
      await proxy.call('agent_close', { agent_id });
      expect(await errorOf(proxy.call('codex', { agent_id, ...args })), JSON.stringify(args)).toMatchObject(
        REFUSED,
      );
      expect((await proxy.call('codex', { agent_id, prompt: 'say on' })).isError).toBeUndefined();
    }
  });
});
