import type { Unanswered } from '@parley/core';
import { expect, test } from 'vitest';

import { toCommand, toEvent, toResponse, toStatus, toTrouble } from './from-wire.ts';
import { errorPayload, responsePayload, statusPayload, toMessage, toRefusal } from './to-wire.ts';

const head = { id: 'i', at: '2030-01-01T00:00:00.000Z', from: 'boss', to: 'sis' };
const jose = { contentType: 'application/jose', jwe: 'a.b.c.d.e' } as const;

test('[LIVE-1] what comes over /ws and goes out again says the same', () => {
  const command = { command: 'run', parameters: { a: 1 }, correlationId: 'c' };
  const asking = { type: 'command', from_role: 'operator' } as const;
  for (const payload of [command, { command: 'run' }, jose])
    expect(toMessage({ ...head, ...asking, body: toCommand(payload) })).toEqual({
      id: 'i',
      type: 'command',
      timestamp: head.at,
      source: 'boss',
      sourceRole: 'operator',
      target: 'sis',
      payload,
    });
  const event = { eventType: 'info', agentId: 'sis', data: { n: 1 }, threadId: 't' } as const;
  for (const payload of [event, { ...event, threadId: undefined }, jose])
    expect(toMessage({ ...head, type: 'event', body: toEvent(payload) }).payload).toEqual(payload);
  const status = { agentId: 'sis', status: 'busy', capabilities: ['x'], metadata: { uptime: 1 } } as const;
  const said = { ...status, capabilities: ['x'] };
  expect(statusPayload(toStatus({ ...said, lastSeen: 'ignored', requestId: 'theirs' }), 'mine')).toEqual({
    ...said,
    requestId: 'mine',
  });
  const response = { success: false, error: { code: 'X', message: 'x' }, executionTime: 2 };
  for (const payload of [response, jose])
    expect(responsePayload(toResponse({ ...payload, requestId: 'theirs' }), 'mine')).toEqual({
      ...payload,
      requestId: 'mine',
    });
  const error = { code: 'NO_DISK', message: 'full', recoverable: false };
  const named = { ...error, details: { free: 0, requestId: 'theirs' } };
  expect(errorPayload(toTrouble(named), 'mine')).toEqual({
    ...error,
    details: { free: 0, requestId: 'mine' },
  });
  expect(errorPayload(toTrouble(error))).toEqual(error);
  expect(toTrouble(named)).toEqual({ ...error, details: { free: 0 }, means: 'UNAVAILABLE' });
  expect(toTrouble({ ...error, code: 'INVALID_COMMAND' })).toMatchObject({ means: 'VALIDATION_ERROR' });
});

test('[KNOW-22] only an agent that executes by Langroid gets a ToolMessage, and nothing sealed becomes one', () => {
  const update = (body: object, executor?: string) =>
    toMessage({
      ...head,
      type: 'command',
      from_role: 'operator',
      body: body as { command: string },
      ...(executor === undefined ? {} : { executor }),
    }).payload;
  const body = { command: 'a.b', parameters: { id: 1 } };
  expect(update(body)).toEqual(body);
  expect(update(body, 'other')).toEqual(body);
  expect(update(body, 'langroid')).toEqual({ command: 'a.b', parameters: { request: 'a_b', id__: 1 } });
  expect(update({ ...body, parameters: jose }, 'langroid')).toEqual({ ...body, parameters: jose });
  expect(update({ sealed: jose.jwe }, 'langroid')).toEqual(jose);
});

test('[LIVE-6] every end of a command that is no answer has its word on /ws', () => {
  const message = 'why';
  const refused = (code: 'CONFLICT' | 'UNAVAILABLE' | 'VALIDATION_ERROR' | 'FORBIDDEN', details: object) =>
    ({ outcome: 'refused', code, message, details: { ...details } }) as const;
  const away = { of_agent: 'sis', timeout_ms: 5, message };
  const cases: [Unanswered, string, object][] = [
    [{ outcome: 'no_such_session', known: false, message }, 'AGENT_NOT_FOUND', {}],
    [
      { outcome: 'no_such_session', known: true, message, last_seen: 'then' },
      'AGENT_OFFLINE',
      { lastSeen: 'then' },
    ],
    [{ outcome: 'timed_out', ...away }, 'TASK_TIMEOUT', { timeout: 5, agentId: 'sis' }],
    [{ outcome: 'gone', ...away }, 'TASK_TIMEOUT', { timeout: 5, agentId: 'sis' }],
    [
      refused('CONFLICT', { reason: 'several_sessions', field: 'of_session', sessions: ['a', 'b'] }),
      'INVALID_COMMAND',
      { field: 'targetSession', reason: 'several_sessions', sessions: ['a', 'b'] },
    ],
    [
      refused('VALIDATION_ERROR', { reason: 'not_listed', field: 'command', capabilities: ['x'] }),
      'INVALID_COMMAND',
      { field: 'payload.command', capabilities: ['x'] },
    ],
    [
      refused('VALIDATION_ERROR', { reason: 'repeated_id', field: 'idempotency_key' }),
      'INVALID_COMMAND',
      { field: 'id', reason: 'repeated_id' },
    ],
    [
      refused('UNAVAILABLE', { reason: 'at_capacity', limit: 2 }),
      'RESOURCE_EXHAUSTED',
      { reason: 'at_capacity', limit: 2 },
    ],
    [refused('UNAVAILABLE', { reason: 'slow_reader' }), 'RESOURCE_EXHAUSTED', { reason: 'slow_reader' }],
    [refused('FORBIDDEN', { a: 1 }), 'UNAUTHORIZED', { a: 1, code: 'FORBIDDEN' }],
  ];
  for (const [ended, code, details] of cases)
    expect(toRefusal(ended), ended.outcome).toMatchObject({ code, message, details });
});
