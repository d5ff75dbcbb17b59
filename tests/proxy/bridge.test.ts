import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { errorOf, type ProxyClient, until } from './proxy-client.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();

/** What the child was told, as the scripted one repeats it. */
const told = async (turn: Promise<{ structuredContent: { content: string } }>): Promise<unknown> =>
  JSON.parse((await turn).structuredContent.content) as unknown;

const openTwo = async (proxy: ProxyClient): Promise<[string, string]> => {
  const a = await proxy.call('codex', { prompt: 'say hi', identity: 'a' });
  const b = await proxy.call('codex', { prompt: 'say hi', identity: 'b' });
  return [a.structuredContent.agent_id, b.structuredContent.agent_id];
};

describe('[FR-18.1] [FR-18.3] approvals', () => {
  test('[FR-18.2] [AT approval/1] [AT approval/2] [AT approval/5] [C-PROXY-23] two at once, answered in reverse, each to its own', async () => {
    const proxy = await start();
    const [a, b] = await openTwo(proxy);
    const first = told(proxy.call('codex-reply', { agent_id: a, prompt: 'ask git init' }));
    await until(() => proxy.asked.length === 1);
    const second = told(proxy.call('codex-reply', { agent_id: b, prompt: 'ask rm file' }));
    await until(() => proxy.asked.length === 2);
    expect(proxy.asked).toMatchObject([
      {
        method: 'elicitation/create',
        params: { agent_id: a, _meta: { agent_id: a }, codex_command: ['git init'] },
      },
      {
        method: 'elicitation/create',
        params: { agent_id: b, _meta: { agent_id: b }, codex_command: ['rm file'] },
      },
    ]);
    expect(proxy.asked[0]?.id).not.toBe(proxy.asked[1]?.id);
    proxy.send({ id: proxy.asked[1]?.id, result: { action: 'decline' } });
    proxy.send({ id: proxy.asked[0]?.id, result: { action: 'accept', content: {} } });
    expect(await first).toMatchObject({ result: { decision: 'approved' } });
    expect(await second).toMatchObject({ result: { decision: { denied: {} } } });
  });

  /** What a client may answer, and what Codex is told. */
  const ANSWERS = [
    [{ action: 'accept' }, 'approved'],
    [{ decision: 'approved' }, 'approved'],
    [{ decision: 'Approved' }, 'approved'],
    [{ decision: 'approved_for_session' }, 'approved_for_session'],
    [{ action: 'accept', content: { decision: 'approved_for_session' } }, 'approved_for_session'],
    [{ action: 'decline' }, 'denied'],
    [{ action: 'cancel' }, 'denied'],
    [{ decision: 'Rejected' }, 'denied'],
    [{ decision: 'denied' }, 'denied'],
    [{ decision: 'abort' }, 'abort'],
    [{ decision: { denied: { rejection: 'not today' } } }, 'not today'],
    [{}, 'denied'],
    [null, 'denied'],
  ] as const;

  test('[PROXY-X4] [PROXY-X6] each answer becomes the decision it means; an error of the client is a refusal, not passed on', async () => {
    const proxy = await start({ args: ['--set', 'max_concurrent_threads=20'] });
    const ask = async (nth: number): Promise<{ turn: Promise<unknown>; id: unknown }> => {
      const turn = told(proxy.call('codex', { prompt: 'ask git init', identity: `nth-${nth}` }));
      await until(() => proxy.asked.length === nth + 1);
      return { turn, id: proxy.asked[nth]?.id };
    };
    for (const [nth, [result, word]] of ANSWERS.entries()) {
      const { turn, id } = await ask(nth);
      proxy.send({ id, result });
      expect(JSON.stringify(await turn), JSON.stringify(result)).toContain(word);
    }
    const { turn, id } = await ask(ANSWERS.length);
    proxy.send({ id, error: { code: -32_601, message: 'no elicitation here' } });
    expect(await turn).toMatchObject({ result: { decision: { denied: {} } } });
  });

  test('[AT approval/3] [FR-18.4] [C-PROXY-24] [C-PROXY-25] no answer in time is a refusal, logged; a late one is ignored', async () => {
    const proxy = await start({ args: ['--set', 'approval_timeout_secs=1'] });
    const turn = told(proxy.call('codex', { prompt: 'ask git init' }));
    expect(await turn).toMatchObject({ result: { decision: { denied: {} } } });
    expect(proxy.stderr()).toContain('an approval was refused without an answer');
    expect(proxy.stderr()).toContain('"reason":"timed out"');
    const { id } = proxy.asked[0] ?? {};
    expect(proxy.heard).toContainEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: id },
    });
    proxy.send({ id, result: { action: 'accept' } });
    proxy.send({ id, result: { action: 'accept' } });
    proxy.send({ id: 'never-issued', result: { action: 'accept' } });
    await proxy.request('ping');
    expect(proxy.received().filter(({ result }) => result !== undefined)).toHaveLength(1);
  });

  test('[AT approval/4] [FR-18.5] [C-PROXY-24] closing refuses what is asked before it completes', async () => {
    const proxy = await start();
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    const turn = proxy.call('codex-reply', { agent_id, prompt: 'ask git init\nwait' }).catch(() => {});
    await until(() => proxy.asked.length === 1);
    await proxy.call('agent_close', { agent_id });
    await turn;
    const lines = proxy.received();
    const refusal = lines.findIndex(({ result }) => JSON.stringify(result ?? '').includes('denied'));
    const summary = lines.findIndex((line) => JSON.stringify(line).includes('about to be closed'));
    expect(refusal).toBeGreaterThan(0);
    expect(summary).toBeGreaterThan(refusal);
  });
});

describe('[FR-19.1] [FR-19.2] events', () => {
  test('[FR-19.5] [AT events/1] [AT events/2] [AT events/5] [C-PROXY-26] reach the client as they were, each with its session', async () => {
    const proxy = await start();
    const call = (identity: string, n: number) =>
      proxy.call('codex', { prompt: `event ${n}\nwait 200\nevent ${n}\nsay hi`, identity });
    const request = proxy.nextId();
    const [a, b] = await Promise.all([call('a', 1), call('b', 2)]);
    for (const [n, { agent_id, threadId }] of [
      [1, a.structuredContent],
      [2, b.structuredContent],
    ] as const) {
      const own = proxy.heard.filter(({ params }) => (params['msg'] as { n?: number }).n === n);
      expect(own).toHaveLength(2);
      for (const { method, params } of own)
        expect({ method, params }).toEqual({
          method: 'codex/event',
          params: {
            _meta: { requestId: request + n - 1, threadId },
            id: expect.any(String),
            msg: { type: 'strange', n, nested: { a: [1, null, 'é'] } },
            agent_id,
          },
        });
    }
    const first = proxy.heard.find(
      ({ params }) => (params['msg'] as { type: string }).type === 'session_configured',
    );
    expect([a, b].map(({ structuredContent }) => structuredContent.agent_id)).toContain(
      first?.params['agent_id'],
    );
  });

  test('[AT events/3] [FR-19.3] requests are answered in the midst of a flood of events', async () => {
    const proxy = await start();
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    let isOver = false;
    const turn = proxy.call('codex-reply', { agent_id, prompt: 'events 20000\nsay done' });
    void turn.finally(() => (isOver = true));
    const isFlooded = (): boolean =>
      proxy.heard.some(({ params }) => (params['msg'] as { type: string }).type === 'flood');
    let midway = 0;
    await until(async () => {
      await proxy.call('agent_status');
      if (!isOver && isFlooded()) midway += 1;
      return isOver;
    });
    expect((await turn).structuredContent.content).toBe('done');
    expect(midway).toBeGreaterThan(0);
  });

  test('[FR-19.3] [FR-19.4] a client that does not read loses events and no answer', async () => {
    const proxy = await start({ args: ['--set', 'max_event_backlog_bytes=100000'] });
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    proxy.process.stdout.pause();
    const flood = proxy.call('codex-reply', { agent_id, prompt: 'events 20000\nsay through' });
    const status = proxy.call('agent_status');
    await until(() => proxy.received().some((line) => JSON.stringify(line).includes('events 20000')));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    proxy.process.stdout.resume();
    expect((await flood).structuredContent.content).toBe('through');
    await status;
    const { sessions } = (await proxy.call('agent_sessions')).structuredContent as unknown as {
      sessions: { dropped_events: number }[];
    };
    const dropped = sessions[0]?.dropped_events ?? 0;
    const heard = proxy.heard.filter(
      ({ params }) => (params['msg'] as { type: string }).type === 'flood',
    ).length;
    expect(dropped).toBeGreaterThan(0);
    expect(heard).toBeLessThan(20_000);
    expect(heard + dropped).toBeGreaterThanOrEqual(20_000);
  });
});

describe('[FR-19.3] [FR-19.4] a client that hears nothing', () => {
  test('[C-PROXY-27] [FR-17.5] stops reading while 200,000 events come: memory is bounded, each lost one counted, and the answer there afterwards', async () => {
    const proxy = await start({ args: ['--set', 'max_event_backlog_bytes=1000000'] });
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    proxy.process.stdout.pause();
    const flood = proxy.call('codex-reply', { agent_id, prompt: 'events 200000\nsay through' });
    const path = join(place().home, '.config/atm/agent-sessions/default/codex/registry.json');
    await until(() => readFileSync(path, 'utf8').includes('"busy"'));
    let most = 0;
    await until(() => {
      most = Math.max(most, residentMb(proxy.pid));
      return readFileSync(path, 'utf8').includes('"idle"');
    });
    proxy.process.stdout.resume();
    expect((await flood).structuredContent.content).toBe('through');
    const { dropped_events } = (await proxy.call('agent_status')).structuredContent as unknown as {
      dropped_events: number;
    };
    const heard = proxy.heard.filter(({ params }) => JSON.stringify(params).includes('"flood"')).length;
    expect(dropped_events).toBeGreaterThan(100_000);
    expect(heard + dropped_events).toBeGreaterThanOrEqual(200_000);
    // The events alone are 70 MB.
    expect(most).toBeLessThan(400);
  });

  test('[AT events/4] is gone: events are dropped and counted', async () => {
    const proxy = await start({ args: ['--set', 'summary_timeout_secs=1'] });
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    proxy.call('codex-reply', { agent_id, prompt: 'events 20000\nwait' }).catch(() => {});
    await until(() => proxy.heard.some(({ params }) => JSON.stringify(params).includes('"flood"')));
    proxy.process.stdout.destroy();
    const dropped = await until(() => /"msg":"stopped","dropped_events":(\d+)/.exec(proxy.stderr())?.[1]);
    expect(Number(dropped)).toBeGreaterThan(0);
  });
});

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

describe('[FR-16.2] how a session begins', () => {
  test('[FR-16.1] [FR-16.4] [AT initialization/4] [FR-16.5] [C-PROXY-13] [NFR-6] by one of prompt, agent_file and agent_id', async () => {
    const proxy = await start();
    const both = await errorOf(proxy.call('codex', { prompt: 'x', agent_file: 'y.md' }));
    expect(both).toMatchObject({ code: -32_007, data: { error_name: 'INVALID_SESSION_PARAMS' } });
    expect((await errorOf(proxy.call('codex', {}))).code).toBe(-32_007);
    expect((await errorOf(proxy.call('codex', { agent_id: 'codex:none' }))).code).toBe(-32_002);
    expect((await errorOf(proxy.call('codex', { prompt: 'x', role: 'none' }))).code).toBe(-32_007);
    expect((await errorOf(proxy.call('codex', { prompt: 'x', cwd: '/no/such/folder' }))).code).toBe(-32_007);
    expect((await errorOf(proxy.call('codex', { prompt: 'x', bogus: 1 }))).code).toBe(-32_602);
    expect(proxy.received()).toEqual([]);
  });
});
