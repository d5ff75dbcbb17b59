import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import type { CodexTool } from '../agents/run-codex.ts';
import { describeWith } from '../tools/describe-with.ts';
import { eventually, type HubScene, useHubScene } from './hub-scene.ts';
import { until } from './proxy-client.ts';
import { openRealScene, type RealScene } from './real-scene.ts';

const kinds = [
  ['codex-0153', 'app-server'],
  ['codex-0153', 'mcp-server'],
] as const satisfies readonly (readonly [CodexTool, string])[];

const current = useHubScene();

for (const [tool, transport] of kinds)
  describeWith([tool], `the real Codex at the hub: ${tool}, ${transport}`, () => {
    let codex: RealScene;
    let scene: HubScene;
    beforeEach(async () => {
      codex = await openRealScene(tool, transport);
      scene = current();
    });
    afterEach(() => codex.close());

    test('a command runs when a person at the hub allows it, and not when the person does not; the journal tells', async () => {
      const proxy = await codex.start(
        ['--sandbox', 'read-only', '--approval-policy', 'on-request'],
        scene.env,
      );
      const { agent_id } = (await proxy.call('codex', { prompt: 'hello', identity: 'arch' }))
        .structuredContent;
      await until(() => proxy.stderr().includes('linked to the hub'));
      const yes = proxy.call('codex-reply', { agent_id, prompt: 'run made' });
      const first = await scene.ask();
      expect(first).toMatchObject({ kind: 'approval', agent_id: 'arch', cwd: codex.place.work });
      expect(first.command).toContain(`touch ${codex.place.work}/made`);
      await scene.seen('arch', 'needs_you', /touch/);
      await scene.person.answer_ask({ ask_id: first.ask_id, decision: 'approved' });
      expect((await yes).isError).toBeUndefined();
      expect(existsSync(join(codex.place.work, 'made'))).toBe(true);
      await until(() => proxy.heard.some(({ method }) => method === 'notifications/cancelled'));

      const no = proxy.call('codex-reply', { agent_id, prompt: 'run unmade' });
      const second = await scene.ask();
      await scene.person.answer_ask({ ask_id: second.ask_id, decision: 'denied' });
      expect((await no).isError).toBeUndefined();
      expect(existsSync(join(codex.place.work, 'unmade'))).toBe(false);

      const progress = await eventually(async () =>
        (await scene.journal('arch')).find(({ metadata }) => metadata['event_type'] === 'task_progress'),
      );
      expect(progress).toMatchObject({ body: expect.stringMatching(/^ran: .*made.* \(exit 0\)$/) });
      const ended = (await scene.journal('arch')).filter(
        ({ metadata }) => metadata['event_type'] === 'task_completed',
      );
      expect(ended[0]).toMatchObject({
        body: 'echo hello',
        metadata: { data: { duration_ms: expect.any(Number), usage: { thread: expect.anything() } } },
      });
    });

    test('a patch is told with its files', async () => {
      const proxy = await codex.start([], scene.env);
      await proxy.call('codex', { prompt: 'patch made.txt', identity: 'arch', cwd: codex.place.work });
      expect(existsSync(join(codex.place.work, 'made.txt'))).toBe(true);
      await scene.seen('arch', 'idle');
      const bodies = await eventually(async () => {
        const reported = (await scene.journal('arch')).map(({ body }) => body);
        return reported.some((body) => body.startsWith('OUT')) && reported;
      });
      expect(bodies).toContainEqual(expect.stringMatching(/^changed .*made\.txt$/));
    });
  });
