import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { CodexTool } from '../agents/run-codex.ts';
import { textOf } from '../runtimes/scripted-agent.ts';
import { describeWith } from '../tools/describe-with.ts';
import { errorOf, until } from './proxy-client.ts';
import { openRealScene, type RealScene } from './real-scene.ts';

const kinds = [
  ['codex-0153', 'app-server', 'app-server'],
  ['codex-0153', 'mcp-server', 'mcp-server'],
  ['codex', 'auto', 'app-server'],
] as const satisfies readonly (readonly [CodexTool, string, string])[];

/** What the last request told the model, as it reads it. */
const textsOf = ({ requests }: RealScene): string =>
  (requests.at(-1)?.body.input ?? []).map(textOf).join('\n');

for (const [tool, transport, backend] of kinds)
  describeWith([tool], `the real Codex: ${tool}, ${backend}`, () => {
    let scene: RealScene;
    beforeEach(async () => {
      scene = await openRealScene(tool, transport);
    });
    afterEach(() => scene.close());

    /** What the model was sent with the last request. */
    const sent = (): string => JSON.stringify(scene.requests.at(-1)?.body.input);

    test('[PROXY-X1] [PROXY-X3] [PROXY-X6] [PROXY-X9] [AT core/2] [AT core/3] [FR-2.1] [FR-2.6] [PROXY-X2] [FR-2.2] a session, its replies, and a context that is fresh on each', async () => {
      const git = (...args: string[]) =>
        execFileSync('git', ['-C', scene.place.work, ...args], { stdio: 'pipe' });
      git('init', '-q');
      git('checkout', '-qb', 'one');
      const proxy = await scene.start();
      const first = await proxy.call('codex', {
        prompt: 'hello',
        identity: 'arch',
        tag: 'mine',
        'developer-instructions': 'Be brief.',
      });
      expect(first.structuredContent).toMatchObject({ content: 'echo hello', identity: 'arch' });
      expect(first.isError).toBeUndefined();
      const developer = scene.requests[0]?.body.input.filter(({ role }) => role === 'developer').map(textOf);
      expect(developer?.join('\n')).toMatch(
        /Be brief\.\n\n<session-context[^]*identity: "arch"[^]*branch: "one"/,
      );
      git('checkout', '-qb', 'two');
      const { agent_id, threadId } = first.structuredContent;
      const reply = await proxy.call('codex-reply', { agent_id, prompt: 'again' });
      expect(reply.structuredContent).toMatchObject({ agent_id, threadId, content: 'echo again' });
      expect(sent()).toMatch(/branch: [\\"]+two/);
      const status = await proxy.call('agent_status');
      expect(status.structuredContent).toMatchObject({ child: { alive: true, backend } });
      expect(threadId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    });

    test('[FR-8.9] [FR-14.2] [AT core/5] [PROXY-X5] [FR-17.11] a turn that takes too long is told with what it had said, and the next one runs', async () => {
      const proxy = await scene.start(['--timeout', '6']);
      await errorOf(proxy.request('wake/up'));
      const { agent_id } = (await proxy.call('codex', { prompt: 'hello' })).structuredContent;
      const late = errorOf(proxy.call('codex-reply', { agent_id, prompt: 'wait here' }));
      const queued = proxy.call('codex-reply', { agent_id, prompt: 'after' });
      expect(await late).toMatchObject({ code: -32_006, data: { partial_result: 'begun here', agent_id } });
      expect((await queued).structuredContent.content).toBe('echo after');
    });

    test('[FR-18.1] [FR-18.3] [AT approval/1] [AT approval/2] [PROXY-X4] an approval is asked of the client with its session, and obeyed', async () => {
      const proxy = await scene.start(['--sandbox', 'read-only', '--approval-policy', 'on-request']);
      const { agent_id } = (await proxy.call('codex', { prompt: 'hello' })).structuredContent;
      const yes = proxy.call('codex-reply', { agent_id, prompt: 'run made' });
      await until(() => proxy.asked.length === 1);
      expect(proxy.asked[0]).toMatchObject({
        method: 'elicitation/create',
        params: { agent_id, codex_elicitation: 'exec-approval', message: expect.stringContaining('touch') },
      });
      proxy.send({ id: proxy.asked[0]?.id, result: { action: 'accept', content: {} } });
      await yes;
      expect(existsSync(join(scene.place.work, 'made'))).toBe(true);
      const no = proxy.call('codex-reply', { agent_id, prompt: 'run unmade' });
      await until(() => proxy.asked.length === 2);
      proxy.send({ id: proxy.asked[1]?.id, result: { action: 'decline' } });
      expect((await no).isError).toBeUndefined();
      expect(existsSync(join(scene.place.work, 'unmade'))).toBe(false);
    });

    test('[FR-17.4] [FR-18.5] [AT approval/4] [AT lifecycle/4] [AT lifecycle/8] closing while it asks; the summary is there when it is resumed', async () => {
      const proxy = await scene.start(['--sandbox', 'read-only', '--approval-policy', 'on-request']);
      const { agent_id, threadId } = (await proxy.call('codex', { prompt: 'hello', identity: 'arch' }))
        .structuredContent;
      const running = errorOf(proxy.call('codex-reply', { agent_id, prompt: 'run made' }));
      await until(() => proxy.asked.length === 1);
      const closed = await proxy.call('agent_close', { identity: 'arch' });
      expect(closed.structuredContent).toMatchObject({
        status: 'closed',
        summary: expect.stringContaining('echo'),
      });
      expect((await running).code).toBe(-32_003);
      expect(existsSync(join(scene.place.work, 'made'))).toBe(false);
      const again = await proxy.call('codex', { agent_id, prompt: 'back' });
      expect(again.structuredContent).toMatchObject({
        agent_id,
        threadId,
        identity: 'arch',
        content: 'echo back',
      });
      expect(sent()).toContain('Summary of this session');
      for (const word of ['one', 'two']) {
        await proxy.call('agent_close', { agent_id });
        const next = await proxy.call('codex', { agent_id, prompt: word });
        expect(next.structuredContent.content).toBe(`echo ${word}`);
      }
    });

    test('[FR-19.1] [FR-19.2] [AT events/2] events of two sessions at once, each with its own', async () => {
      const proxy = await scene.start();
      const calls = ['a', 'b'].map((identity) =>
        proxy.call('codex', { prompt: `from ${identity}`, identity }),
      );
      const answers = await Promise.all(calls);
      for (const { structuredContent } of answers) {
        const own = proxy.heard.filter(({ params }) => params['agent_id'] === structuredContent.agent_id);
        expect(own.length).toBeGreaterThan(3);
        for (const { params } of own)
          expect(params).toMatchObject({ _meta: { threadId: structuredContent.threadId } });
      }
    });

    test('[FR-18.3] [FR-19.2] events carry the request of the client and the types that it knows, questions the session', async () => {
      const proxy = await scene.start(['--sandbox', 'read-only', '--approval-policy', 'on-request']);
      const heard = (requestId: number): string[] =>
        proxy.heard
          .filter(({ params }) => (params['_meta'] as { requestId?: number }).requestId === requestId)
          .map(({ params }) => (params['msg'] as { type: string }).type);
      const first = proxy.nextId();
      const { agent_id } = (await proxy.call('codex', { prompt: 'hello' })).structuredContent;
      expect(heard(first)).toEqual(
        expect.arrayContaining(['session_configured', 'task_started', 'agent_message', 'task_complete']),
      );
      const second = proxy.nextId();
      const turn = proxy.call('codex-reply', { agent_id, prompt: 'run made' });
      await until(() => proxy.asked.length === 1);
      expect(heard(second)).toContain('exec_approval_request');
      expect(proxy.asked[0]?.params).toMatchObject({ _meta: { agent_id } });
      proxy.send({ id: proxy.asked[0]?.id, result: { action: 'decline' } });
      await turn;
      const third = proxy.nextId();
      await proxy.call('codex-reply', { agent_id, prompt: 'fail' });
      expect(heard(third)).toContain('error');
      const said = proxy.heard.find(
        ({ params }) => (params['msg'] as { type: string }).type === 'agent_message',
      );
      expect(said?.params['msg']).toMatchObject({ message: 'echo hello' });
    });

    test('[FR-1.1] [C-PROXY-02] [PROXY-X5] what is not ours is asked of Codex itself, and every request answered once', async () => {
      const proxy = await scene.start();
      const unknown = await errorOf(proxy.request('no/such'));
      expect(unknown.data).toMatchObject({
        error_source: 'child',
        child_error: { message: unknown.message },
      });
      expect(unknown.message).toContain('no/such');
      const silent = ['resources/list', 'resources/templates/list', 'prompts/list', 'logging/setLevel'];
      await Promise.all(silent.map((method) => proxy.request(method)));
      const { tools } = (await proxy.request('tools/list')) as { tools: { name: string }[] };
      expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
      if (backend === 'mcp-server') {
        expect(unknown.code).toBe(-32_601);
        expect(await proxy.call('nope')).toMatchObject({ isError: true });
      } else {
        expect(await proxy.request('thread/list', {})).toMatchObject({ data: expect.any(Array) });
        expect((await errorOf(proxy.call('nope'))).code).toBe(-32_602);
      }
    });

    test('[FR-11.1] [FR-11.2] [AT core/4] the child is killed in a turn: told with the signal, and not started again', async () => {
      const proxy = await scene.start();
      const { agent_id } = (await proxy.call('codex', { prompt: 'hello' })).structuredContent;
      const status = (await proxy.call('agent_status')).structuredContent as unknown as {
        child: { pid: number };
      };
      const turn = errorOf(proxy.call('codex-reply', { agent_id, prompt: 'wait here' }));
      await until(() => sent().includes('wait here'));
      process.kill(status.child.pid, 'SIGKILL');
      expect(await turn).toMatchObject({ code: -32_005, data: { signal: 'SIGKILL' } });
      expect((await errorOf(proxy.call('codex', { prompt: 'hello', identity: 'b' }))).code).toBe(-32_005);
    });

    test('[FR-11.2] the child is killed while nothing runs: told with the signal', async () => {
      const proxy = await scene.start();
      const { agent_id } = (await proxy.call('codex', { prompt: 'hello' })).structuredContent;
      const child = async () =>
        (
          (await proxy.call('agent_status')).structuredContent as unknown as {
            child: { pid: number; alive: boolean };
          }
        ).child;
      process.kill((await child()).pid, 'SIGKILL');
      await until(async () => !(await child()).alive);
      for (const call of [
        () => proxy.call('codex-reply', { agent_id, prompt: 'on' }),
        () => proxy.request('no/such'),
      ])
        expect(await errorOf(call())).toMatchObject({
          code: -32_005,
          message: expect.stringContaining('SIGKILL'),
          data: { signal: 'SIGKILL', exit_code: null },
        });
    });

    test('[PROXY-X6] [C-PROXY-37] a failure of the model is a result that says so; the session goes on where the backend can', async () => {
      const proxy = await scene.start();
      const { agent_id } = (await proxy.call('codex', { prompt: 'hello' })).structuredContent;
      expect(await proxy.call('codex-reply', { agent_id, prompt: 'fail' })).toMatchObject({
        isError: true,
        structuredContent: { agent_id },
      });
      const next = proxy.call('codex-reply', { agent_id, prompt: 'on' });
      // From here on mcp-server answers each turn with the one before.
      if (backend === 'mcp-server')
        expect((await errorOf(next)).data).toMatchObject({
          error_source: 'proxy',
          error_name: 'THREAD_LOST',
        });
      else expect((await next).structuredContent.content).toBe('echo on');
    });

    test('[FR-2.7] [FR-3.2] [AT initialization/5] [C-PROXY-18] [C-PROXY-30] [FR-2.4] after SIGKILL of the proxy no child is left; a reply takes the session up in its own folder, on its thread where the backend can', async () => {
      const before = await scene.start();
      const cwd = join(scene.place.work, 'deep');
      mkdirSync(cwd);
      const { agent_id, threadId } = (await before.call('codex', { prompt: 'hello', identity: 'arch', cwd }))
        .structuredContent;
      const status = (await before.call('agent_status')).structuredContent as unknown as {
        child: { pid: number };
      };
      await before.kill('SIGKILL');
      await until(() => !existsSync(`/proc/${status.child.pid}`));
      const after = await scene.start();
      const reply = (await after.call('codex-reply', { agent_id, prompt: 'again' })).structuredContent;
      expect(reply).toMatchObject({ agent_id, identity: 'arch', content: 'echo again' });
      expect(textsOf(scene)).toContain(`cwd: ${JSON.stringify(cwd)}`);
      // Codex itself works there too.
      expect(textsOf(scene)).toContain(`<cwd>${cwd}</cwd>`);
      expect(reply.threadId === threadId).toBe(backend === 'app-server');
      if (backend === 'app-server') expect(sent()).toContain('echo hello');
    });

    test('[FR-6.1] [FR-7.1] [FR-13.3] [AT shutdown/1] [AT shutdown/3] SIGTERM leaves a summary, and --resume puts it before the first turn, on its own thread where the backend can', async () => {
      const before = await scene.start();
      const { agent_id, threadId } = (await before.call('codex', { prompt: 'hello' })).structuredContent;
      expect(await before.kill('SIGTERM')).toBe(0);
      const after = await scene.start(['--resume']);
      const reply = await after.call('codex', { prompt: 'again' });
      expect(reply.structuredContent).toMatchObject({ agent_id, content: 'echo again' });
      expect(reply.structuredContent.threadId === threadId).toBe(backend === 'app-server');
      expect(sent()).toContain('Summary of this session when it was closed');
    });
  });

describe('without a choice', () => {
  describeWith(['codex-0153'], 'the real Codex 0.153', () => {
    test('[PROXY-X1] app-server is taken where there is one', async () => {
      const scene = await openRealScene('codex-0153', 'auto');
      try {
        const proxy = await scene.start();
        await proxy.call('codex', { prompt: 'hello' });
        expect((await proxy.call('agent_status')).structuredContent).toMatchObject({
          child: { backend: 'app-server' },
        });
      } finally {
        await scene.close();
      }
    });
  });
});
