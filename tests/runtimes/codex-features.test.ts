import {
  type ApprovalDecision,
  type ApprovalRequest,
  type BackendName,
  type DynamicToolCall,
  type LoopbackServer,
} from '@parley/runtimes';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { CodexTool } from '../agents/run-codex.ts';
import { describeWith } from '../tools/describe-with.ts';
import { type CodexScene, openCodexScene } from './codex-scene.ts';
import { startDesk } from './desk-server.ts';
import { textOf } from './scripted-agent.ts';

let desk: LoopbackServer;
beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk.close());

const until = <T>(read: () => T): Promise<T> => vi.waitFor(read, { timeout: 10_000, interval: 10 });

/** The next approval of a thread. */
function approvalOf(scene: CodexScene, threadId: string): Promise<ApprovalRequest> {
  return until(() => {
    const found = scene.codex.pendingApprovals().find((request) => request.threadId === threadId);
    expect(found).toBeDefined();
    return found!;
  });
}

const mcpServers = (name: string) => ({
  desk: { url: desk.url, headers: { Authorization: `Bearer ${name}` } },
});

for (const [tool, backend] of [
  ['codex', 'app-server'],
  ['codex-0153', 'app-server'],
  ['codex-0153', 'mcp-server'],
] as [CodexTool, BackendName][]) {
  describeWith([tool], `MCP servers of a thread on ${tool} ${backend}`, () => {
    let scene: CodexScene;
    beforeAll(async () => {
      scene = await openCodexScene(tool, backend);
    });
    afterAll(() => scene.close());

    test('each thread has its own, with its own bearer', async () => {
      const said = ['alice', 'bob'].map(async (name) => {
        const options = { ...scene.thread, mcpServers: mcpServers(name) };
        const { threadId, turn } = await scene.codex.startThread(options, { prompt: 'hello' });
        await turn;
        return (await scene.codex.runTurn(threadId, { prompt: 'remote whoami' })).text;
      });
      const [alice, bob] = await Promise.all(said);
      expect(alice).toContain('whoami by Bearer alice');
      expect(bob).toContain('whoami by Bearer bob');
    });

    test('a tool that wants leave asks for it, or the turn says why it cannot', async () => {
      const options = { ...scene.thread, mcpServers: mcpServers('carol') };
      const { threadId, turn } = await scene.codex.startThread(options, { prompt: 'hello' });
      await turn;
      const asked = scene.codex.runTurn(threadId, { prompt: 'remote danger' });
      if (backend === 'mcp-server') {
        expect(await asked).toMatchObject({ status: 'failed', error: { code: 'unanswerable' } });
        expect((await asked).error?.message).toMatch(/desk .*run tool "danger"/);
        expect(await scene.codex.runTurn(threadId, { prompt: 'on' })).toMatchObject({ text: 'echo on' });
        return;
      }
      const request = await approvalOf(scene, threadId);
      expect(request).toMatchObject({ kind: 'mcp_elicitation', reason: expect.stringContaining('danger') });
      request.respond('decline');
      expect((await asked).text).not.toContain('danger by');
      const again = scene.codex.runTurn(threadId, { prompt: 'remote danger' });
      (await approvalOf(scene, threadId)).respond('accept_for_session');
      expect((await again).text).toContain('danger by Bearer carol');
      // Leave for the session: nobody is asked again.
      expect((await scene.codex.runTurn(threadId, { prompt: 'remote danger' })).text).toContain('danger by');
    });
  });
}

for (const tool of ['codex', 'codex-0153'] as CodexTool[]) {
  describeWith([tool], `what only the app-server of ${tool} can`, () => {
    let scene: CodexScene;
    beforeAll(async () => {
      scene = await openCodexScene(tool, 'app-server');
    });
    afterAll(() => scene.close());

    test('a thread without a turn, then a turn', async () => {
      const { threadId, turn } = await scene.codex.startThread(scene.thread);
      expect(turn).toBeUndefined();
      expect(scene.codex.status(threadId)).toBe('idle');
      expect(await scene.codex.runTurn(threadId, { prompt: 'one' })).toMatchObject({ text: 'echo one' });
    });

    test('dynamic tools are answered here, failures too, and after a restart again', async () => {
      const calls: DynamicToolCall[] = [];
      const spec = { description: 'd', inputSchema: { type: 'object', properties: {} } };
      const dynamicTools = [
        {
          name: 'atm_send',
          ...spec,
          handle: async (call: DynamicToolCall) => {
            calls.push(call);
            return { text: 'sent as 42', success: true };
          },
        },
        { name: 'atm_break', ...spec, handle: () => Promise.reject(new Error('the post is closed')) },
      ];
      const { threadId } = await scene.codex.startThread({ ...scene.thread, dynamicTools });
      const sent = await scene.codex.runTurn(threadId, { prompt: 'tool atm_send' });
      expect(sent.text).toContain('sent as 42');
      expect(calls).toMatchObject([{ threadId, turnId: sent.turnId, arguments: { of: 'the test' } }]);
      const broken = await scene.codex.runTurn(threadId, { prompt: 'tool atm_break' });
      expect(broken).toMatchObject({
        status: 'completed',
        text: expect.stringContaining('the post is closed'),
      });

      await scene.codex.close();
      const codex = (scene.codex = scene.reopen());
      await expect(codex.runTurn(threadId, { prompt: 'cold' })).rejects.toMatchObject({
        code: 'THREAD_NOT_FOUND',
      });
      await codex.resumeThread(threadId, { dynamicTools });
      expect((await codex.runTurn(threadId, { prompt: 'tool atm_send' })).text).toContain('sent as 42');
      const texts = scene.requests.at(-1)?.body.input.map(textOf) ?? [];
      expect(texts).toContain('tool atm_break');
      const nobody = codex.resumeThread('00000000-0000-7000-8000-000000000000');
      await expect(nobody).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
    });

    test.each([
      ['a text', { text: 'blue' }, '[\\"blue\\"]'],
      ['answers by id', { answers: { colour: ['red'], other: ['x'] } }, '[\\"red\\"]'],
      ['decline', 'decline', 'answers'],
    ] as [string, ApprovalDecision, string][])(
      'a question is answered with %s',
      async (_name, decision, seen) => {
        const { threadId } = await scene.codex.startThread(scene.thread);
        const turn = scene.codex.runTurn(threadId, { prompt: 'ask' });
        const request = await approvalOf(scene, threadId);
        const options = expect.arrayContaining(['red', 'blue']);
        expect(request).toMatchObject({
          kind: 'user_input',
          questions: [{ id: 'colour', question: 'Which colour?', options }],
        });
        expect(scene.codex.status(threadId)).toBe('waiting_on_input');
        request.respond(decision);
        const { status, text } = await turn;
        expect(status).toBe('completed');
        expect(text).toContain(seen);
        if (decision === 'decline') expect(text).not.toMatch(/red|blue/);
      },
    );

    test.each([
      ['accept', 'enabled\\":true', 'turn'],
      ['accept_for_session', 'enabled\\":true', 'session'],
      ['decline', 'network\\":null', 'turn'],
      ['cancel', '', ''],
    ] as const)('permissions are answered with %s', async (decision, granted, scope) => {
      const { threadId } = await scene.codex.startThread(scene.thread);
      const turn = scene.codex.runTurn(threadId, { prompt: 'permit' });
      const request = await approvalOf(scene, threadId);
      expect(request).toMatchObject({ kind: 'permissions', reason: 'to look', cwd: scene.place.work });
      request.respond(decision);
      const { status, text } = await turn;
      expect(status).toBe(decision === 'cancel' ? 'interrupted' : 'completed');
      if (decision === 'cancel') return;
      expect(text).toContain(granted);
      expect(text).toContain(`scope\\":\\"${scope}`);
    });

    test('one of the offered options is passed on as it is, anything else is a refusal', async () => {
      for (const offered of [true, false]) {
        const { threadId } = await scene.codex.startThread(scene.thread);
        const turn = scene.codex.runTurn(threadId, { prompt: `run option-${offered}` });
        const request = await approvalOf(scene, threadId);
        request.respond({ option: offered ? request.options[0] : 'approveEverything' });
        const { text } = await turn;
        if (offered) expect(text).not.toMatch(/reject/);
        else expect(text).toMatch(/reject/);
      }
    });

    test('a running turn is steered, an idle thread is not', async () => {
      const { threadId } = await scene.codex.startThread(scene.thread);
      scene.newGate();
      const turn = scene.codex.runTurn(threadId, { prompt: 'wait' });
      await until(() => expect(scene.codex.status(threadId)).toBe('active'));
      await until(() => expect(scene.requests.at(-1)?.body.input.map(textOf)).toContain('wait'));
      await scene.codex.steer(threadId, { prompt: 'and hurry' });
      scene.gate.open();
      expect(await turn).toMatchObject({ status: 'completed', text: 'echo and hurry' });
      await expect(scene.codex.steer(threadId, { prompt: 'late' })).rejects.toMatchObject({
        code: 'REFUSED',
      });
    });

    test('threads are compacted, read, listed and released', async () => {
      const { threadId } = await scene.codex.startThread(scene.thread);
      await scene.codex.runTurn(threadId, { prompt: 'remember this' });
      expect(await scene.codex.compact(threadId)).toMatchObject({ threadId, status: 'completed' });
      expect(await scene.codex.readThread(threadId)).toMatchObject({
        threadId,
        status: 'idle',
        cwd: scene.place.work,
        preview: 'remember this',
      });
      const { threads, nextCursor } = await scene.codex.listThreads({ limit: 1 });
      expect(threads).toMatchObject([{ threadId }]);
      expect(nextCursor).toEqual(expect.any(String));
      await scene.codex.releaseThread(threadId);
      expect(scene.codex.status(threadId)).toBe('not_loaded');
    });
  });
}

describeWith(['codex-0153'], 'what mcp-server cannot', () => {
  test('is said in typed errors, at once', async () => {
    const scene = await openCodexScene('codex-0153', 'mcp-server');
    try {
      const { codex, thread } = scene;
      const { mcp, ...further } = (await codex.start()).can;
      expect(mcp).toBe(true);
      expect(new Set(Object.values(further))).toEqual(new Set([false]));
      await expect(codex.startThread(thread)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
      const { threadId, turn } = await codex.startThread(thread, { prompt: 'one' });
      await turn;
      for (const attempt of [
        codex.steer(threadId, { prompt: 'x' }),
        codex.compact(threadId),
        codex.readThread(threadId),
        codex.listThreads(),
      ])
        await expect(attempt).rejects.toMatchObject({ code: 'UNSUPPORTED' });
      await codex.resumeThread(threadId);
      await codex.close();
      const other = scene.reopen();
      await expect(other.resumeThread(threadId)).rejects.toMatchObject({ code: 'NOT_RESUMABLE' });
      await expect(other.runTurn(threadId, { prompt: 'x' })).rejects.toMatchObject({
        code: 'THREAD_NOT_FOUND',
      });
      const bad = other.startThread({ ...thread, approvalPolicy: 'sometimes' }, { prompt: 'x' });
      await expect(bad).rejects.toMatchObject({
        code: 'REFUSED',
        message: expect.stringContaining('sometimes'),
      });
    } finally {
      await scene.close();
    }
  });
});
