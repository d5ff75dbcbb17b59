import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { BackendName } from '@parley/runtimes';
import { openScripted } from './scripted-child.ts';
import { answer, openThread, THREAD } from './scripted-thread.ts';

const MIB = 1_048_576;
const lines = (...messages: unknown[]): string =>
  messages.map((message) => `${JSON.stringify(message)}\n`).join('');

describe.each(['app-server', 'mcp-server'] as BackendName[])('a hostile child behind %s', (backend) => {
  test('bytes fall as they like, garbage between them', async () => {
    const scene = await openScripted(backend);
    const thread = await openThread(backend, scene);
    const { result, asked } = await thread.turn('t1');
    const bytes = Buffer.from(
      `not json\r\n\r\n[1]\n"text"\n{"id":null,"result":1}\n{"no":"message"}\n${lines(
        thread.say('t1', 'schön '),
        thread.say('t1', '🙂'),
      ).replaceAll('\n', '\r\n')}`,
    );
    // One byte at a time: through every character and every line.
    for (const byte of bytes) scene.child.raw(Buffer.from([byte]));
    await vi.waitFor(() => expect(JSON.stringify(scene.events)).toContain('🙂'), 20_000);
    scene.child.raw(lines(thread.completed('t1', 'schön 🙂'), answer(asked.id!, 'schön 🙂')));
    expect(await result).toMatchObject({ status: 'completed', text: 'schön 🙂' });
    expect(scene.codex.diagnostics()).toMatchObject({ garbageLines: 5, oversizedLines: 0 });
  });

  test('a line of 10 MB is read, one beyond the bound is dropped and counted', async () => {
    const scene = await openScripted(backend, { limits: { maxLineBytes: 12 * MIB } });
    const thread = await openThread(backend, scene);
    const { result } = await thread.turn('t1');
    scene.child.send({ method: 'noise', params: { text: 'x'.repeat(13 * MIB) } });
    scene.child.send(thread.completed('t1', 'y'.repeat(10 * MIB)));
    expect((await result).text).toHaveLength(10 * MIB);
    expect(scene.codex.diagnostics()).toMatchObject({ garbageLines: 0, oversizedLines: 1 });
    expect(scene.events.some(({ method }) => method === 'noise')).toBe(false);
  });

  test('death in a turn tells how, gives what was said, and hides what is secret', async () => {
    const env = { OPENAI_API_KEY: 'very-secret-value' };
    const scene = await openScripted(backend, {}, { env });
    const thread = await openThread(backend, scene);
    const { result } = await thread.turn('t1');
    scene.child.send(thread.say('t1', 'so far'));
    scene.child.act({ err: '\u001b[31mpanic\u001b[0m with very-secret-value and Bearer abc.def-123\n' });
    scene.child.raw('{"method":"turn/compl');
    await vi.waitFor(() => expect(scene.codex.diagnostics().stderr).toContain('panic'), 20_000);
    scene.child.act({ exit: 3 });
    expect(await result).toMatchObject({
      status: 'failed',
      text: 'so far',
      error: { code: 'child_exited', message: 'codex ended with code 3', exit: { code: 3, signal: null } },
    });
    expect(scene.exits).toEqual([
      { code: 3, signal: null, stderr: 'panic with [redacted] and [redacted]\n' },
    ]);
    expect(scene.codex.diagnostics().garbageLines).toBe(1);
    await expect(scene.codex.runTurn(THREAD, { prompt: 'x' })).rejects.toMatchObject({
      code: 'CHILD_EXITED',
    });
  });

  test('silence: the signal settles the turn, the thread is busy until the child lets go', async () => {
    const scene = await openScripted(backend);
    const thread = await openThread(backend, scene);
    const stop = new AbortController();
    const { result, asked } = await thread.turn('t1', { signal: stop.signal });
    scene.child.send(thread.say('t1', 'half'));
    await vi.waitFor(() => expect(JSON.stringify(scene.events)).toContain('half'), 20_000);
    stop.abort(new Error('late'));
    expect(await result).toMatchObject({
      status: 'interrupted',
      text: 'half',
      error: { code: 'unconfirmed' },
    });
    await scene.child.heard(backend === 'app-server' ? 'turn/interrupt' : 'notifications/cancelled');
    await expect(scene.codex.runTurn(THREAD, { prompt: 'x' })).rejects.toMatchObject({ code: 'BUSY' });
    scene.child.send(thread.completed('t1', 'too late'), answer(asked.id!, 'too late'));
    await vi.waitFor(() => expect(JSON.stringify(scene.events)).toContain('too late'), 20_000);
    const next = await thread.turn('t2');
    scene.child.send(thread.completed('t2', 'in time'));
    expect(await next.result).toMatchObject({ turnId: 't2', status: 'completed', text: 'in time' });
  });

  test('the end of another turn is not the end of this one', async () => {
    const scene = await openScripted(backend);
    const thread = await openThread(backend, scene);
    const { result } = await thread.turn('t1');
    scene.child.send(thread.completed('t1', 'one'));
    await result;
    const next = await thread.turn('t2');
    scene.child.send(
      thread.completed('t1', 'one again'),
      thread.interrupted('t1'),
      thread.completed('t2', 'two'),
    );
    expect(await next.result).toMatchObject({ turnId: 't2', status: 'completed', text: 'two' });
  });

  test('listeners that throw harm nobody; an approval that cannot be asked is refused', async () => {
    const scene = await openScripted(backend, {
      onEvent: () => {
        throw new Error('listener');
      },
      onApproval: () => {
        throw new Error('listener');
      },
      onStatus: () => {
        throw new Error('listener');
      },
    });
    const thread = await openThread(backend, scene);
    const { result } = await thread.turn('t1');
    // The first id of a child is often 0.
    if (backend === 'app-server') {
      const params = { threadId: THREAD, turnId: 't1', itemId: 'i', command: 'ls' };
      scene.child.send({ id: 0, method: 'item/commandExecution/requestApproval', params });
      expect((await scene.child.answerTo(0)).result).toEqual({ decision: 'decline' });
    } else {
      const params = { threadId: THREAD, codex_elicitation: 'exec-approval', codex_command: ['ls'] };
      scene.child.send({ id: 0, method: 'elicitation/create', params });
      const { result: given } = await scene.child.answerTo(0);
      expect(given).toEqual({
        action: 'decline',
        decision: { denied: { rejection: 'The request was declined.' } },
      });
    }
    scene.child.send(thread.completed('t1', 'fine'));
    expect(await result).toMatchObject({ status: 'completed', text: 'fine' });
    expect(scene.codex.diagnostics().failedCallbacks).toBeGreaterThan(2);
  });

  test('a flood on stderr is drained and bounded', async () => {
    const scene = await openScripted(backend);
    const thread = await openThread(backend, scene);
    const { result } = await thread.turn('t1');
    scene.child.act({ flood: 30 * MIB });
    scene.child.send(thread.completed('t1', 'fine'));
    expect((await result).text).toBe('fine');
    expect(scene.codex.diagnostics().stderr.length).toBeLessThanOrEqual(16_384);
  });

  test('a child that stops reading is told from a slow one, and is still closed', async () => {
    const scene = await openScripted(backend, { limits: { maxBacklogBytes: MIB } });
    await openThread(backend, scene);
    scene.child.act({ deafen: true, cling: true });
    await sleep(100);
    const attempts: Promise<unknown>[] = [];
    for (let n = 0; n < 8; n++) {
      const attempt = scene.codex.startThread(
        { cwd: '/' },
        { prompt: 'x', untrusted: [{ name: 'big', text: 'x'.repeat(MIB) }] },
      );
      const refused = attempt.catch((error: { code: string }) => error.code);
      attempts.push(refused);
    }
    const more = scene.codex.startThread({ cwd: 'x'.repeat(4 * MIB) }, { prompt: 'x' }).catch((e) => e.code);
    await sleep(100);
    const late = scene.codex.startThread({ cwd: '/' }, { prompt: 'x' });
    await expect(late).rejects.toMatchObject({ code: 'OVERLOADED' });
    for (const prompt of ['x', 'y'])
      await expect(scene.codex.runTurn(THREAD, { prompt })).rejects.toMatchObject({
        code: 'OVERLOADED',
      });
    const exit = await scene.codex.close();
    expect(exit).toMatchObject({ signal: 'SIGKILL' });
    for (const code of await Promise.all([...attempts, more]))
      expect(['OVERLOADED', 'CLOSED', 'CHILD_EXITED']).toContain(code);
  });

  test('a decision that is none refuses', async () => {
    const scene = await openScripted(backend);
    const thread = await openThread(backend, scene);
    await thread.turn('t1');
    const method = backend === 'app-server' ? 'item/fileChange/requestApproval' : 'elicitation/create';
    const params = { threadId: THREAD, turnId: 't1', itemId: 'i', codex_elicitation: 'patch-approval' };
    for (const [id, wrong] of ['Approved', undefined, null, 7].entries()) {
      scene.child.send({ id, method, params });
      await vi.waitFor(() => expect(scene.approvals).toHaveLength(id + 1), 20_000);
      expect(scene.approvals[id]?.respond(wrong as never)).toBe(true);
      expect(JSON.stringify((await scene.child.answerTo(id)).result)).toMatch(/decline/);
    }
  });

  test('what the child asks beyond our knowledge is refused, not left open', async () => {
    const scene = await openScripted(backend);
    await openThread(backend, scene);
    scene.child.send({ id: 'q', method: 'attestation/generate', params: {} });
    expect((await scene.child.answerTo('q')).error).toMatchObject({ code: -32601 });
  });

  test('answers to nobody are counted', async () => {
    const scene = await openScripted(backend);
    await openThread(backend, scene);
    scene.child.send({ id: 4711, result: {} }, { id: 'x', error: { code: 1, message: 'what' } });
    await vi.waitFor(() => expect(scene.codex.diagnostics().strayAnswers).toBe(2), 20_000);
  });

  test('a child that never answers its first question, or dies of it, does not start', async () => {
    const silent = await openScripted(backend, { limits: { startMs: 700 } }, { mute: true });
    await expect(silent.codex.start()).rejects.toMatchObject({
      code: 'START_FAILED',
      message: expect.stringContaining('no answer to initialize'),
    });
    expect(silent.exits).toHaveLength(1);
    await expect(silent.codex.listThreads()).rejects.toMatchObject({ code: 'START_FAILED' });
    const dying = await openScripted(backend, {}, { mute: true });
    const started = dying.codex.start();
    const refused = expect(started).rejects.toMatchObject({
      code: 'START_FAILED',
      facts: { exit: { code: 7 } },
    });
    await dying.child.heard('initialize');
    dying.child.act({ exit: 7 });
    await refused;
  });

  test('close is patient, then firm, and the same for everybody who asks', async () => {
    const scene = await openScripted(backend);
    await scene.codex.start();
    const { pid } = scene.child;
    scene.child.act({ cling: true });
    await sleep(50);
    const [one, two] = await Promise.all([scene.codex.close(), scene.codex.close()]);
    expect(one).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(two).toEqual(one);
    expect(scene.exits).toEqual([one]);
    expect(() => process.kill(pid, 0)).toThrow();
  });
});

describe('a hostile app-server', () => {
  test('the end of a turn may come before its name', async () => {
    const scene = await openScripted('app-server');
    const thread = await openThread('app-server', scene);
    const first = scene.codex.runTurn(THREAD, { prompt: 'a' });
    const asked = await scene.child.heard('turn/start');
    scene.child.send(thread.completed('other', 'not ours'), thread.completed('t1', 'ours'));
    scene.child.send({ id: asked.id!, result: { turn: { id: 't1' } } });
    expect(await first).toMatchObject({ turnId: 't1', text: 'ours' });
  });

  test('a thread that is idle without having told the end of its turn has lost it', async () => {
    const scene = await openScripted('app-server');
    const thread = await openThread('app-server', scene);
    const { result } = await thread.turn('t1');
    scene.child.send(thread.say('t1', 'almost'));
    const status = { type: 'idle' };
    scene.child.send({
      method: 'thread/status/changed',
      params: { threadId: THREAD, status: { type: 'active' } },
    });
    scene.child.send({ method: 'thread/status/changed', params: { threadId: THREAD, status } });
    expect(await result).toMatchObject({ status: 'failed', text: 'almost', error: { code: 'lost' } });
    const next = await thread.turn('t2');
    scene.child.send(thread.completed('t2', 'here'));
    expect(await next.result).toMatchObject({ text: 'here' });
  });

  test('an answer too long to read fails its question only', async () => {
    const scene = await openScripted('app-server', { limits: { maxLineBytes: MIB } });
    await openThread('app-server', scene);
    const read = scene.codex.readThread(THREAD);
    const { id } = await scene.child.heard('thread/read');
    const refused = expect(read).rejects.toMatchObject({ code: 'ANSWER_TOO_LARGE' });
    scene.child.send({ id: id!, result: { thread: { preview: 'x'.repeat(2 * MIB) } } });
    await refused;
  });

  test('a question without an answer ends in time', async () => {
    const scene = await openScripted('app-server', { limits: { requestMs: 100 } });
    await expect(scene.codex.listThreads()).rejects.toMatchObject({ code: 'TIMED_OUT' });
  });

  test('somebody else may answer an approval, or run a turn', async () => {
    const scene = await openScripted('app-server');
    const thread = await openThread('app-server', scene);
    const { result } = await thread.turn('t1');
    const params = { threadId: THREAD, turnId: 't1', itemId: 'i', reason: 'why' };
    scene.child.send({ id: 0, method: 'item/fileChange/requestApproval', params });
    await vi.waitFor(() => expect(scene.approvals).toHaveLength(1), 20_000);
    expect(scene.codex.status(THREAD)).toBe('waiting_on_approval');
    scene.child.send({ method: 'serverRequest/resolved', params: { threadId: THREAD, requestId: 0 } });
    await vi.waitFor(() => expect(scene.closedApprovals).toEqual([['approval-1', 'withdrawn']]), 20_000);
    expect(scene.approvals[0]?.respond('accept')).toBe(false);
    expect(scene.codex.status(THREAD)).toBe('active');
    scene.child.send(thread.completed('t1', 'done'));
    await result;
    expect(scene.child.received.filter(({ id, method }) => id === 0 && method === undefined)).toEqual([]);

    scene.child.send({ method: 'turn/started', params: { threadId: THREAD, turn: { id: 'theirs' } } });
    await vi.waitFor(() => expect(JSON.stringify(scene.events)).toContain('theirs'), 20_000);
    await expect(scene.codex.runTurn(THREAD, { prompt: 'x' })).rejects.toMatchObject({ code: 'BUSY' });
    scene.child.send(thread.completed('theirs', 'theirs'));
    await vi.waitFor(() => expect(scene.events.at(-1)?.method).toBe('turn/completed'), 20_000);
    const next = await thread.turn('t2');
    scene.child.send(thread.completed('t2', 'ours'));
    expect(await next.result).toMatchObject({ text: 'ours' });
  });

  test.each([
    ['execCommandApproval', 'accept', 'approved'],
    ['execCommandApproval', 'cancel', 'abort'],
    ['applyPatchApproval', 'accept_for_session', 'approved_for_session'],
    ['applyPatchApproval', { text: 'no' }, { denied: { rejection: 'no' } }],
  ] as const)('the older question %s is answered in its own words: %j', async (method, decision, word) => {
    const scene = await openScripted('app-server');
    await openThread('app-server', scene);
    const fileChanges = { '/a': { type: 'update', unified_diff: '+x' } };
    const params = { conversationId: THREAD, callId: 'c', command: ['ls', '-l'], cwd: '/', fileChanges };
    scene.child.send({ id: 0, method, params });
    await vi.waitFor(() => expect(scene.approvals).toHaveLength(1), 20_000);
    expect(scene.approvals[0]).toMatchObject({ threadId: THREAD, command: 'ls -l', cwd: '/' });
    expect(scene.approvals[0]?.changes).toEqual([{ path: '/a', type: 'update', diff: '+x' }]);
    scene.approvals[0]?.respond(decision);
    expect((await scene.child.answerTo(0)).result).toEqual({ decision: word });
  });
});

describe('a hostile mcp-server', () => {
  test('answers come under an older id, or never', async () => {
    const scene = await openScripted('mcp-server');
    const thread = await openThread('mcp-server', scene);
    const cancelled = await thread.turn('t1');
    const stopped = scene.codex.interrupt(THREAD);
    const { params } = await scene.child.heard('notifications/cancelled');
    expect(params?.['requestId']).toBe(cancelled.asked.id);
    scene.child.send(thread.interrupted('t1'));
    await stopped;
    expect(await cancelled.result).toMatchObject({ status: 'interrupted' });
    // The second turn is answered under the first one's id, the third under the second's.
    let older = cancelled.asked.id!;
    for (const turnId of ['t2', 't3', 't4']) {
      const { result, asked } = await thread.turn(turnId);
      scene.child.send(thread.completed(turnId, turnId), answer(older, turnId));
      expect(await result).toMatchObject({ turnId, status: 'completed', text: turnId });
      older = asked.id!;
    }
    expect(scene.codex.diagnostics().strayAnswers).toBe(0);
  });

  test('a child without events is followed by its answers', async () => {
    const scene = await openScripted('mcp-server');
    const started = scene.codex.startThread({ cwd: '/' }, { prompt: 'one' });
    const first = await scene.child.heard('tools/call');
    scene.child.send(answer(first.id!, 'first answer'));
    const { threadId, turn } = await started;
    expect(threadId).toBe(THREAD);
    expect(await turn).toMatchObject({ status: 'completed', text: 'first answer' });
    const next = scene.codex.runTurn(THREAD, { prompt: 'two' });
    const second = await scene.child.heard('tools/call', 2);
    scene.child.send(answer(second.id!, 'second answer'));
    expect(await next).toMatchObject({ status: 'completed', text: 'second answer' });
    const bad = scene.codex.runTurn(THREAD, { prompt: 'three' });
    const third = await scene.child.heard('tools/call', 3);
    scene.child.send({ id: third.id!, error: { code: -32603, message: 'broken' } });
    expect(await bad).toMatchObject({ status: 'failed', error: { code: 'refused', message: 'broken' } });
    const gone = scene.codex.runTurn(THREAD, { prompt: 'four' });
    const fourth = await scene.child.heard('tools/call', 4);
    scene.child.send(answer(fourth.id!, `Session not found for thread_id: ${THREAD}`, true));
    await expect(gone).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  });

  test('a first turn that never gets a thread is given up with the signal, or fails with the child', async () => {
    const scene = await openScripted('mcp-server');
    const stop = new AbortController();
    const started = scene.codex.startThread({ cwd: '/' }, { prompt: 'one', signal: stop.signal });
    const refused = expect(started).rejects.toMatchObject({ code: 'ABORTED' });
    await scene.child.heard('tools/call');
    stop.abort();
    await refused;
    const second = scene.codex.startThread({ cwd: '/' }, { prompt: 'two' });
    const failed = expect(second).rejects.toMatchObject({
      code: 'CHILD_EXITED',
      facts: { exit: { code: 9 } },
    });
    await scene.child.heard('tools/call', 2);
    scene.child.act({ exit: 9 });
    await failed;
  });
});
