import type { Caller } from '@parley/protocol';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createHub } from '../hub.ts';
import { openSampleHub } from '../sample-hub.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { CommandOutcome, CommandRequest } from './command-port.ts';
import type { Link } from './link.ts';
import type { LiveUpdate } from './live-update.ts';
import { journalId } from '../threads/access.ts';
import { createLive } from './live.ts';

const START = Date.parse('2030-01-01T00:00:00Z');
const boss: Caller = { agent_id: 'boss', workspace_id: 'w', role: 'operator', session_id: 's' };
const TIMEOUT_MS = 1_000;

beforeEach(() => {
  vi.useFakeTimers({ now: START });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A connection that keeps what it is sent; `full` is for the test to set. */
interface Wire extends Link {
  sent: LiveUpdate[];
  full: boolean;
}

function wireOf(caller: Caller): Wire {
  const sent: LiveUpdate[] = [];
  return {
    caller,
    how: 'test',
    since: START,
    registered: false,
    listening: true,
    full: false,
    sent,
    send: (update) => sent.push(update),
    offer: (update) => sent.push(update),
    confirm: (received) => received(),
    replaced: () => {},
    deliver: () => true,
    fellBehind: () => {},
    dropped: () => {},
    drained: () => Promise.resolve(true),
  };
}

function openLive() {
  const { deps } = openSampleHub(openMemoryStore(), { now: START });
  let ids = 0;
  const live = createLive({
    ...deps,
    newId: () => `id-${++ids}`,
    commandTimeoutMs: TIMEOUT_MS,
    maxConcurrent: 2,
    context: () => ({ request_id: 'r', signal: new AbortController().signal }),
    onFault: (error) => {
      throw error;
    },
  });
  live.open(createHub({ ...deps, links: live.links }, () => {}, { checkAnswers: true }));
  async function connect(name: string, capabilities: string[] = [], session_id = name): Promise<Wire> {
    const caller: Caller = { agent_id: name, workspace_id: 'w', role: 'worker', session_id };
    const link = wireOf(caller);
    live.join(link);
    await live.registered(caller, { name, status: 'online', capabilities });
    return link;
  }
  /** Over the port as another node would: what goes in and what comes out is plain data. */
  async function command(more: Partial<CommandRequest> & { command_id: string }): Promise<CommandOutcome> {
    const request: CommandRequest = { caller: boss, of_agent: 'sis', body: { command: 'run' }, ...more };
    const outcome = await live.command(JSON.parse(JSON.stringify(request)) as CommandRequest);
    expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome);
    return outcome;
  }
  /** What the journal of sis holds after its beginning. */
  async function journal(what: 'body' | 'metadata' = 'body'): Promise<unknown[]> {
    const thread_id = journalId('w', 'sis');
    const query = { workspace_id: 'w', thread_id, after: 0, limit: 100, max_bytes: 1_000_000 };
    const { entries } = await deps.store.page(query);
    return entries.filter(({ type }) => type.startsWith('agent.')).map((entry) => entry[what]);
  }
  return { live, connect, command, journal };
}

/** The commands that were sent over a connection, once they have come. */
async function commandsTo({ sent }: Wire, count: number): Promise<LiveUpdate<'command'>[]> {
  const commands = () => sent.filter((update): update is LiveUpdate<'command'> => update.type === 'command');
  await vi.waitFor(() => expect(commands()).toHaveLength(count), 20_000);
  return commands();
}

test('[LIVE-5] a command goes out as plain data and comes back answered, or failed in the words of the agent', async () => {
  const { live, connect, command } = openLive();
  const sis = await connect('sis');
  const body = { command: 'run', parameters: { n: 1 }, correlation_id: 'c' };
  const done = command({ command_id: 'one', body });
  const [asked] = await commandsTo(sis, 1);
  expect(asked).toMatchObject({ from: 'boss', from_role: 'operator', to: 'sis', body });
  const response = { success: true, result: { n: 2 }, execution_ms: 3 };
  expect(live.isAsked(sis.caller, asked?.id)).toBe(true);
  expect(await live.respond({ ...sis.caller, agent_id: 'thief' }, asked?.id ?? '', response)).toBe(false);
  expect(await live.respond(sis.caller, asked?.id ?? '', response)).toBe(true);
  expect(await live.respond(sis.caller, asked?.id ?? '', response)).toBe(false);
  expect(await done).toEqual({ outcome: 'answered', by: 'sis', response });

  const broken = command({ command_id: 'two' });
  const [, next] = await commandsTo(sis, 2);
  const error = { code: 'NO_DISK', message: 'full', recoverable: false, means: 'UNAVAILABLE' } as const;
  expect(await live.fail(sis.caller, next?.id ?? '', error)).toBe(true);
  expect(await broken).toEqual({ outcome: 'failed', by: 'sis', error });

  const sealed = command({ command_id: 'three', body: { sealed: 'a.b.c.d.e' } });
  const [, , third] = await commandsTo(sis, 3);
  expect(third?.body).toEqual({ sealed: 'a.b.c.d.e' });
  await live.respond(sis.caller, third?.id ?? '', { sealed: 'f.g.h.i.j' });
  expect(await sealed).toEqual({ outcome: 'answered', by: 'sis', response: { sealed: 'f.g.h.i.j' } });
});

test('[LIVE-6] what is not done says why: no such session, refused, or no answer in time', async () => {
  const { live, connect, command } = openLive();
  expect(await command({ command_id: '1', of_agent: 'ghost' })).toMatchObject({
    outcome: 'no_such_session',
    known: false,
  });
  const sis = await connect('sis', ['run']);
  expect(await command({ command_id: '2', of_session: 'other' })).toMatchObject({
    outcome: 'no_such_session',
    known: true,
    message: 'session other of sis is not connected',
  });
  const worker: Caller = { ...boss, agent_id: 'wen', role: 'worker' };
  expect(await command({ command_id: '3', caller: worker })).toMatchObject({
    outcome: 'refused',
    code: 'INSUFFICIENT_AUTHORITY',
  });
  expect(await command({ command_id: '4', body: { command: 'dance' } })).toMatchObject({
    outcome: 'refused',
    code: 'VALIDATION_ERROR',
    details: { reason: 'not_listed', field: 'command', capabilities: ['run'] },
  });
  sis.full = true;
  expect(await command({ command_id: '5' })).toMatchObject({ details: { reason: 'slow_reader' } });
  sis.full = false;
  const twin = await connect('sis', ['run'], 'sis-2');
  expect(await command({ command_id: '6' })).toMatchObject({
    outcome: 'refused',
    code: 'CONFLICT',
    details: { reason: 'several_sessions', field: 'of_session', sessions: ['sis', 'sis-2'] },
  });
  live.leave(twin);

  const waiting = [command({ command_id: '7' }), command({ command_id: '8', timeout_ms: 700 })];
  await commandsTo(sis, 2);
  expect(await command({ command_id: '9' })).toMatchObject({
    outcome: 'refused',
    code: 'UNAVAILABLE',
    details: { reason: 'at_capacity', limit: 2 },
  });
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
  expect(await Promise.all(waiting)).toMatchObject([
    { outcome: 'timed_out', of_agent: 'sis', timeout_ms: TIMEOUT_MS },
    { outcome: 'timed_out', of_agent: 'sis', timeout_ms: 700 },
  ]);
});

test('[LIVE-13] a session that is lost in the midst and not back in time is gone; one that is back is asked on', async () => {
  const { live, connect, command } = openLive();
  const sis = await connect('sis');
  const lost = command({ command_id: 'lost' });
  await commandsTo(sis, 1);
  live.leave(sis);
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
  expect(await lost).toMatchObject({ outcome: 'gone', of_agent: 'sis', timeout_ms: TIMEOUT_MS });
  expect(live.asked).toBe(0);

  const back = await connect('sis');
  const kept = command({ command_id: 'kept' });
  const [asked] = await commandsTo(back, 1);
  live.leave(back);
  const again = await connect('sis');
  await live.respond(again.caller, asked?.id ?? '', { success: true, execution_ms: 1 });
  expect(await kept).toMatchObject({ outcome: 'answered', by: 'sis' });
});

test('[C-WS-07] the same command while it is open is sent once and both hear of it; later its id is used up', async () => {
  const { live, connect, command } = openLive();
  const sis = await connect('sis', ['run']);
  const unknown = { command_id: 'odd', body: { command: 'dance' } };
  const refused = { outcome: 'refused', details: { reason: 'not_listed' } };
  expect(await Promise.all([command(unknown), command(unknown)])).toMatchObject([
    refused,
    { ...refused, repeated: true },
  ]);
  const both = [command({ command_id: 'same' }), command({ command_id: 'same' })];
  const [asked] = await commandsTo(sis, 1);
  const response = { success: true, execution_ms: 1 };
  await live.respond(sis.caller, asked?.id ?? '', response);
  const answered = { outcome: 'answered', by: 'sis', response };
  expect(await Promise.all(both)).toEqual([answered, { ...answered, repeated: true }]);
  expect(await command({ command_id: 'same' })).toMatchObject({
    outcome: 'refused',
    details: { reason: 'repeated_id' },
  });
  await commandsTo(sis, 1);
});

test('what is asked aside is not on record, takes no place among the commands, and has a bound of its own', async () => {
  const { live, connect, command, journal } = openLive();
  const sis = await connect('sis', ['run', 'look']);
  const look = { body: { command: 'look' }, aside: true } as const;
  const looks = Array.from({ length: 32 }, (_, n) => command({ command_id: `look-${n}`, ...look }));
  const asked = await commandsTo(sis, 32);
  expect(await command({ command_id: 'one-more', ...look })).toMatchObject({ code: 'UNAVAILABLE' });
  expect(await command({ command_id: 'unlisted', body: { command: 'dance' }, aside: true })).toMatchObject({
    outcome: 'refused',
    details: { reason: 'not_listed' },
  });
  expect([live.asked, live.counts('w').questions]).toEqual([0, 0]);
  const done = command({ command_id: 'run' });
  const all = await commandsTo(sis, 33);
  for (const { id } of all) await live.respond(sis.caller, id, { success: true, execution_ms: 1 });
  expect(await done).toMatchObject({ outcome: 'answered' });
  expect((await Promise.all(looks)).map(({ outcome }) => outcome)).toEqual(asked.map(() => 'answered'));
  expect(await journal()).toEqual(['run', 'done']);
});

test('keys and the ids of locks never stand on record', async () => {
  const { live, connect, command, journal } = openLive();
  const sis = await connect('sis');
  const parameters = { lock_id: 'the-lock', keys: 'hunter2', other: 1 };
  const done = command({ command_id: 'one', body: { command: 'terminal_type', parameters } });
  const [asked] = await commandsTo(sis, 1);
  expect(asked?.body).toMatchObject({ parameters });
  await live.respond(sis.caller, asked?.id ?? '', { success: true, execution_ms: 1 });
  await done;
  const kept = JSON.stringify(await journal('metadata'));
  expect(kept).toContain('"parameters":{"other":1}');
  expect(kept).not.toMatch(/hunter2|the-lock/);
});
