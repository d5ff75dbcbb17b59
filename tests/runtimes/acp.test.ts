import { fileURLToPath } from 'node:url';

import type { AskVerdict } from '@parley/protocol';
import { type ManagedAsk, type ManagedOptions, type ManagedReport, openAcpSession } from '@parley/runtimes';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

const AGENT = fileURLToPath(new URL('scripted-acp.mjs', import.meta.url));
const PATIENCE = { startMs: 30_000, cancelMs: 30_000 };

async function open(mode = '', more: Partial<ManagedOptions> = {}, patience = PATIENCE) {
  const reports: ManagedReport[] = [];
  const asks: ManagedAsk[] = [];
  const closed: string[] = [];
  const exits: unknown[] = [];
  const options: ManagedOptions = {
    bin: AGENT,
    args: [],
    env: { PATH: process.env['PATH'] ?? '', ACP_MODE: mode, AGENT_KEY: 'hunter2-hunter2' },
    cwd: process.cwd(),
    clientInfo: { name: 'test', version: '0' },
    on: {
      report: (report) => void reports.push(report),
      ask: (ask) => void asks.push(ask),
      askClosed: (id, how) => void closed.push(`${id} ${how}`),
      exit: (exit) => void exits.push(exit),
    },
    ...more,
  };
  const session = await openAcpSession(options, patience);
  onTestFinished(() => session.close());
  return { session, reports, asks, closed, exits };
}

const verdict = (more: Partial<AskVerdict>): AskVerdict => ({
  decision: 'approved',
  by: 'ann',
  device: 'd',
  at: '2030-01-01T00:00:00Z',
  ...more,
});

describe('an agent that speaks ACP', () => {
  test('a turn is proved by its own events, and ends with its last words', async () => {
    const { session } = await open();
    expect(session.facts).toMatchObject({
      runtime: 'scripted_agent',
      version: '1.2.3',
      sessionId: 'session-1',
      can: { steer: false },
    });
    const turn = session.prompt('echo hello there');
    expect(() => session.prompt('echo again')).toThrow(expect.objectContaining({ code: 'BUSY' }));
    expect(await turn.started).toBe('runtime_status');
    expect(await turn.ended).toMatchObject({
      status: 'completed',
      text: 'hello there',
      usage: { totalTokens: 3 },
    });
    expect(await session.prompt('quiet').started).toBe('runtime_status');
    await expect(session.steer('more')).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    expect(await session.cancel()).toBe(false);
  });

  test('a permission becomes an ask with the exact command and its own options; the first answer wins', async () => {
    const { session, asks, closed, reports } = await open();
    const turn = session.prompt('tool');
    await vi.waitFor(() => expect(asks).toHaveLength(1), 20_000);
    expect(asks[0]?.content).toEqual({
      kind: 'approval',
      prompt: 'Scripted Agent asks for approval: make all',
      command: 'make all',
      cwd: '/the/place',
      options: [
        { id: 'yes', label: 'Allow once', kind: 'allow_once' },
        { id: 'always', label: 'Always allow', kind: 'allow_rule' },
        { id: 'no', label: 'Reject', kind: 'deny' },
      ],
      metadata: { source: 'acp', kind: 'execute' },
    });
    expect(asks[0]?.answer(verdict({ option: 'always' }))).toBe(true);
    expect(asks[0]?.answer(verdict({ decision: 'denied' }))).toBe(false);
    expect(await turn.ended).toMatchObject({ text: '{"outcome":"selected","optionId":"always"}' });
    expect(closed).toEqual(['permission-1 answered']);
    expect(reports).toEqual([
      {
        event_type: 'task_progress',
        data: { message: 'ran: make all', tool: 'execute', command: 'make all', cwd: '/the/place' },
      },
    ]);
  });

  test('who waits no longer is told so: the agent gives up, its turn ends, somebody cancels', async () => {
    const { session, asks, closed } = await open();
    expect(await session.prompt('giveup').ended).toMatchObject({ text: '{"outcome":"cancelled"}' });
    await session.prompt('forget').ended;
    await vi.waitFor(
      () => expect(closed).toEqual(['permission-1 withdrawn', 'permission-2 withdrawn']),
      20_000,
    );
    const turn = session.prompt('tool');
    await vi.waitFor(() => expect(asks).toHaveLength(3), 20_000);
    const ended = session.cancel();
    expect(await turn.ended).toMatchObject({ status: 'completed', text: '{"outcome":"cancelled"}' });
    expect(await ended).toBe(true);
    expect(closed[2]).toBe('permission-3 withdrawn');
    expect(asks[2]?.answer(verdict({}))).toBe(false);
  });

  test('a turn that somebody ends is interrupted; an agent that does not heed it is ended', async () => {
    const { session } = await open();
    const turn = session.prompt('wait');
    await turn.started;
    expect(await session.cancel()).toBe(true);
    expect(await turn.ended).toMatchObject({ status: 'interrupted', text: 'so far' });
    expect(await session.prompt('echo on').ended).toMatchObject({ status: 'completed' });
    const other = await open('', {}, { startMs: 30_000, cancelMs: 100 });
    const stuck = other.session.prompt('stubborn');
    await stuck.started;
    expect(await other.session.cancel()).toBe(true);
    expect(await stuck.ended).toMatchObject({ status: 'interrupted', text: 'so far' });
    expect(other.exits).toHaveLength(1);
    expect(() => other.session.prompt('echo x')).toThrow(expect.objectContaining({ code: 'CHILD_EXITED' }));
  });

  test('an old session goes on without its past, or with the past unheard', async () => {
    for (const mode of ['resumes', 'loads']) {
      const { session, reports } = await open(mode, { resume: 'old-1' });
      expect(session.facts.sessionId).toBe('old-1');
      expect(reports).toEqual([]);
    }
    await expect(open('', { resume: 'old-1' })).rejects.toMatchObject({ code: 'NOT_RESUMABLE' });
  });
});

describe('a hostile ACP agent', () => {
  test('garbage, strangers and unknown kinds pass by', async () => {
    const { session, reports } = await open();
    expect(await session.prompt('garbage').ended).toMatchObject({ status: 'completed', text: 'and yet' });
    expect(reports).toEqual([]);
  });

  test('what is too long is dropped, and nobody waits for it', async () => {
    const { session, asks } = await open();
    expect(await session.prompt('giant').ended).toMatchObject({ status: 'completed', text: '-32603' });
    expect(asks).toEqual([]);
    expect(await session.prompt('bloated').ended).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('longer than is read') as string,
    });
  });

  test('files, terminals, other sessions and broken questions are refused', async () => {
    const { session, asks } = await open();
    expect((await session.prompt('wrong').ended).text).toBe(
      '-32602 {"outcome":"cancelled"} -32601 -32601 -32601',
    );
    expect(asks).toEqual([]);
  });

  test('of a flood of questions only so many are put before people', async () => {
    const { session, asks, reports } = await open();
    const turn = session.prompt('flood');
    await vi.waitFor(() => expect(reports).toMatchObject([{ data: { message: 'ran: refused 68' } }]), 20_000);
    expect(asks).toHaveLength(32);
    for (const ask of asks) ask.answer(verdict({ option: 'no', decision: 'denied' }));
    expect(await turn.ended).toMatchObject({ status: 'completed' });
  });

  test('one that dies is told with its last word, without its secrets', async () => {
    const { session, exits } = await open();
    const turn = session.prompt('die');
    expect(await turn.ended).toMatchObject({
      status: 'failed',
      text: 'so far',
      error: 'the agent ended with exit 3: the key is [redacted]',
    });
    expect(exits).toHaveLength(1);
  });

  test('one that never begins gives no proof, and one that stops reading is ended', async () => {
    const { session } = await open();
    const turn = session.prompt('silent');
    const proof = turn.started.then(
      () => 'proved',
      ({ code }: { code: string }) => code,
    );
    await session.close();
    expect(await proof).toBe('REFUSED');
    expect(await turn.ended).toMatchObject({ status: 'failed' });
    const deaf = await open();
    expect(await deaf.session.prompt('deaf').ended).toMatchObject({ status: 'failed' });
    await vi.waitFor(() => expect(deaf.exits).toHaveLength(1), 20_000);
  });

  test.each([
    ['reasonless', 'the agent answered without saying why it stopped'],
    ['tired', 'it came to the most tokens it may use'],
    ['nonsense', 'Internal error: the model is away'],
  ])('a turn that comes to no good end says why: %s', async (act, error) => {
    const { session } = await open();
    expect(await session.prompt(act).ended).toMatchObject({ status: 'failed', error });
  });

  test.each([
    ['dead', 'the agent ended with exit 7: no configuration'],
    ['newer', 'the agent speaks version 2 of the protocol, not 1'],
    ['login', 'the agent wants a login first: Run `agent login`'],
    ['nameless', 'the agent made a session without an id'],
  ])('one that does not start says why: %s', async (mode, message) => {
    await expect(open(mode)).rejects.toMatchObject({ code: 'START_FAILED', message });
  });

  test('one that never answers is given up, and nothing of it is left', async () => {
    await expect(open('mute', {}, { startMs: 300, cancelMs: 300 })).rejects.toMatchObject({
      code: 'START_FAILED',
      message: 'no answer to initialize within 300 ms',
    });
    await expect(open('', { bin: 'no-such-agent' })).rejects.toMatchObject({ code: 'SPAWN_FAILED' });
  });
});
