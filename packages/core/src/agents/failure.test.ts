import type { Agent } from '@parley/protocol';
import { expect, test } from 'vitest';

import { failureAfterEvent, failureAfterStatus, failureOf, openFailure } from './failure.ts';

const at = (second: number): string => new Date(Date.UTC(2030, 0, 1, 12, 0, second)).toISOString();
const dismissed = { by: 'kim', at: at(50) };

function agent(status: Agent['status'], more: Partial<Agent> = {}): Agent {
  return {
    agent_id: 'a',
    workspace_id: 'w',
    capabilities: [],
    status,
    status_since: at(1),
    last_seen: at(1),
    ...more,
  };
}

const event = (text: string, second: number, event_type = 'task_failed') => ({
  event_type,
  text,
  at: at(second),
});

test('a failure by event is kept, and what is well since then changes nothing of it', () => {
  const failed = agent('busy', failureAfterEvent(agent('busy'), event('no disk', 5)));
  expect(failed.failure).toEqual({ at: at(5), text: 'no disk' });
  expect(failureAfterEvent(failed, event('done', 6, 'task_completed'))).toEqual({ failure: failed.failure });
  expect(failureAfterStatus(failed, agent('online'), at(7))).toEqual({ failure: failed.failure });
  expect(failureAfterStatus(failed, agent('offline'), at(7))).toEqual({ failure: failed.failure });
});

test('one failure that is told by status and by event is one, in either order', () => {
  const told = agent('error', { metadata: { error: 'no disk' }, reported_at: at(5) });
  const first = { at: at(5), text: 'no disk', dismissed };
  expect(failureAfterEvent({ ...told, failure: first }, event('no disk', 6))).toEqual({ failure: first });
  expect(failureAfterEvent({ ...told, failure: first }, event('no net', 6)).failure).toEqual({
    at: at(6),
    text: 'no net',
  });
  const known = agent('busy', { reported_at: at(3), last_event: event('no disk', 5), failure: first });
  expect(failureAfterStatus(known, told, at(6))).toEqual({ failure: first });
  expect(failureAfterStatus(known, agent('error'), at(6))).toEqual({ failure: first });
  const other = agent('error', { metadata: { error: 'no net' } });
  expect(failureAfterStatus(known, other, at(6)).failure).toEqual({ at: at(6), text: 'no net' });
  // It said since that event that it is at work: the same words are a new failure.
  const between = { ...known, reported_at: at(6) };
  expect(failureAfterStatus(between, told, at(7)).failure).toEqual({ at: at(7), text: 'no disk' });
});

test('a status that is said again, also after an absence, brings no dismissed error back', () => {
  const failure = { at: at(5), text: 'no disk', dismissed };
  const error = agent('error', { metadata: { error: 'no disk' }, failure });
  expect(failureAfterStatus(error, error, at(9))).toEqual({ failure });
  expect(failureAfterStatus({ ...error, status: 'offline' }, error, at(9))).toEqual({ failure });
  expect(failureAfterStatus({ ...error, status: 'busy', metadata: {} }, error, at(9)).failure).toEqual({
    at: at(9),
    text: 'no disk',
  });
  // Without words nobody can tell: it is a new one.
  const mute = agent('offline', { failure });
  expect(failureAfterStatus(mute, agent('error'), at(9)).failure).toMatchObject({ at: at(9) });
});

test('a newer failure has a later time, also where the clock was set back', () => {
  const known = agent('online', { failure: { at: at(30), text: 'no disk' } });
  expect(failureAfterEvent(known, event('no net', 10)).failure?.at).toBe('2030-01-01T12:00:30.001Z');
  expect(failureAfterEvent(known, event('no net', 30)).failure?.at).toBe('2030-01-01T12:00:30.001Z');
});

test('records of before: what they imply is a failure, and stays one with the next report', () => {
  const old = agent('online', { reported_at: at(3), last_event: event('no disk', 5, 'error') });
  expect(openFailure(old)).toEqual({ at: at(5), text: 'no disk' });
  expect(failureAfterStatus(old, agent('online'), at(9))).toEqual({
    failure: { at: at(5), text: 'no disk' },
  });
  expect(failureOf({ ...old, reported_at: at(6) })).toBeUndefined();
  expect(openFailure({ ...old, failure: { at: at(5), text: 'no disk', dismissed } })).toBeUndefined();
});
