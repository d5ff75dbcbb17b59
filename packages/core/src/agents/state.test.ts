import type { Agent, Ask } from '@parley/protocol';
import { expect, test } from 'vitest';

import type { Presence } from '../participation/presence.ts';
import type { StoredSession } from '../sessions/stored-session.ts';
import { type AgentFacts, type Patience, standing } from './state.ts';

const NOW = Date.parse('2030-01-01T12:00:00Z');
const patience: Patience = {
  stuckAfterMs: 60_000,
  offlineAfterMs: 120_000,
  unreadStuckMs: 600_000,
  returnMs: 30_000,
};
const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString();

/** An agent that reported itself; `heard`, `said` and `since` are seconds ago. */
function agent(
  status: Agent['status'],
  more: { heard?: number; said?: number; since?: number } & Partial<Agent> = {},
): Agent {
  const { heard = 5, said = heard, since = 30, ...fields } = more;
  return {
    agent_id: 'a',
    workspace_id: 'w',
    capabilities: [],
    status,
    status_since: ago(since),
    reported_at: ago(said),
    last_seen: ago(heard),
    ...fields,
  };
}

function session(status: StoredSession['status'], heard: number, since = heard): StoredSession {
  return {
    agent_id: 'a',
    workspace_id: 'w',
    session_id: `s${heard}`,
    runtime: 'codex_cli',
    management_mode: 'managed',
    resumable: false,
    status,
    last_heartbeat_at: ago(heard),
    since: ago(since),
  };
}

const presence = (state: Presence['state'], since: number): Presence => ({
  thread_id: 't',
  agent_id: 'a',
  workspace_id: 'w',
  state,
  since: NOW - since * 1_000,
});

const ask = (fields: Partial<Ask>): Ask => ({ created_at: ago(40), prompt: 'Which one?', ...fields }) as Ask;
const event = (event_type: string, at: number) => ({ event_type, text: 'npm test failed', at: ago(at) });
const link = { how: 'ws', since: NOW - 90_000 };

const table: [string, Partial<AgentFacts>, string, string, number][] = [
  [
    'a supervised session at rest, beside one that only shows that it lives',
    { sessions: [session('idle', 20, 60), { ...session('active', 5), management_mode: 'unmanaged' }] },
    'idle',
    'nothing to do',
    60,
  ],
  [
    'a supervised session at work, beside one that is quiet',
    { sessions: [session('active', 20, 60), { ...session('idle', 5), management_mode: 'unmanaged' }] },
    'working',
    'codex_cli session is active',
    60,
  ],
  ['an ask is open', { openAsks: [ask({})] }, 'needs_you', 'Which one?', 40],
  [
    'an ask for a command',
    { openAsks: [ask({ command: 'git  push\n-f' })] },
    'needs_you',
    'asks to run: git push -f',
    40,
  ],
  [
    'an ask outlives its agent',
    { openAsks: [ask({})], agent: agent('offline') },
    'needs_you',
    'Which one?',
    40,
  ],
  ['an ask before an error', { openAsks: [ask({})], agent: agent('error') }, 'needs_you', 'Which one?', 40],
  [
    'it waits at a prompt',
    { agent: agent('busy', { metadata: { waiting: 'prompt' } }) },
    'needs_you',
    'waiting at a prompt',
    30,
  ],

  ['nothing was ever heard', {}, 'offline', 'never seen', 0],
  ['it took leave', { agent: agent('offline', { heard: 7 }) }, 'offline', 'process gone', 7],
  ['its one session ended', { sessions: [session('offline', 9)] }, 'offline', 'process gone', 9],
  [
    'the session ended after its last report',
    { agent: agent('busy', { heard: 20 }), sessions: [session('offline', 9)] },
    'offline',
    'process gone',
    9,
  ],
  [
    'one session ended, another lives',
    { sessions: [session('offline', 3), session('idle', 20)] },
    'idle',
    'nothing to do',
    3,
  ],
  [
    'it took leave with all its sessions',
    { agent: agent('offline', { heard: 3 }), sessions: [session('idle', 20)] },
    'offline',
    'process gone',
    3,
  ],
  [
    'it took leave and came back',
    { agent: agent('offline', { heard: 50 }), sessions: [session('idle', 5)] },
    'idle',
    'nothing to do',
    5,
  ],
  [
    'its heartbeat stopped',
    { sessions: [session('idle', 130)] },
    'offline',
    'silent; no connection and no heartbeat',
    130,
  ],
  [
    'its reports stopped',
    { agent: agent('busy', { heard: 120 }) },
    'offline',
    'silent; no connection and no heartbeat',
    120,
  ],
  [
    'an old session does not outweigh a fresh report',
    { agent: agent('online', { heard: 5 }), sessions: [session('active', 9_000)] },
    'idle',
    'nothing to do',
    30,
  ],
  [
    'silent, but connected',
    { sessions: [session('idle', 500, 600)], links: [link] },
    'idle',
    'nothing to do',
    90,
  ],
  [
    'silent, but present in a thread',
    { sessions: [session('idle', 500)], presence: [presence('listening', 10)] },
    'idle',
    'nothing to do',
    10,
  ],

  ['it says so', { agent: agent('error') }, 'error', 'reports an error', 30],
  ['it says why', { agent: agent('error', { metadata: { error: 'no disk' } }) }, 'error', 'no disk', 30],
  [
    'its task failed',
    { agent: agent('busy', { last_event: event('task_failed', 4) }) },
    'error',
    'npm test failed',
    4,
  ],
  [
    'an error event',
    { agent: agent('online', { last_event: event('error', 4) }) },
    'error',
    'npm test failed',
    4,
  ],
  [
    'it has reported since, and all is well',
    { agent: agent('online', { said: 2, last_event: event('error', 4) }) },
    'idle',
    'nothing to do',
    30,
  ],
  [
    'it has reported since, and it is not',
    { agent: agent('error', { said: 2, last_event: event('error', 4) }) },
    'error',
    'npm test failed',
    4,
  ],
  [
    'a warning is no error',
    { agent: agent('online', { last_event: event('warning', 4) }) },
    'idle',
    'nothing to do',
    30,
  ],
  [
    'an error of one that has gone',
    { agent: agent('error', { heard: 300 }) },
    'error',
    'reports an error',
    30,
  ],
  [
    'an error that was dismissed, of one that has not said yet that all is well',
    {
      agent: agent('error', {
        failure: { at: ago(30), text: 'no disk', dismissed: { by: 'kim', at: ago(9) } },
      }),
    },
    'idle',
    'its error was dismissed',
    30,
  ],
  [
    'an error of one that is at work again',
    { agent: agent('busy', { failure: { at: ago(90), text: 'no disk' } }) },
    'error',
    'no disk',
    90,
  ],

  [
    'rate-limited',
    { agent: agent('busy', { metadata: { rateLimitedUntil: '2030-01-01T12:05:00Z' } }) },
    'stuck',
    'rate-limited until 2030-01-01T12:05:00Z',
    30,
  ],
  [
    'the rate limit has passed',
    { agent: agent('busy', { metadata: { rateLimitedUntil: '2030-01-01T11:59:00Z' } }) },
    'working',
    'busy',
    30,
  ],
  [
    'an active session fell silent',
    { sessions: [session('active', 75)] },
    'stuck',
    'silent for 75 s in the middle of work',
    75,
  ],
  [
    'a busy agent fell silent',
    { agent: agent('busy', { heard: 61 }) },
    'stuck',
    'silent for 61 s in the middle of work',
    61,
  ],
  ['an idle one may be silent', { sessions: [session('idle', 75)] }, 'idle', 'nothing to do', 75],
  [
    'one active session is silent, the newest is not',
    { sessions: [session('active', 75), session('active', 5, 20)] },
    'working',
    'codex_cli session is active',
    20,
  ],
  [
    'silent at work, but connected',
    { agent: agent('busy', { heard: 500 }), links: [link] },
    'working',
    'busy',
    30,
  ],
  [
    'it does not read',
    { sessions: [session('idle', 5, 3_600)], unreadSince: NOW - 700_000 },
    'stuck',
    'has had unread messages for 12 min and does not read',
    700,
  ],
  [
    'it is at work and reads when it is done',
    { sessions: [session('active', 5, 3_600)], unreadSince: NOW - 7_000_000 },
    'working',
    'codex_cli session is active',
    3_600,
  ],
  [
    'it has just come to rest',
    { sessions: [session('idle', 5, 20)], unreadSince: NOW - 7_000_000 },
    'idle',
    'nothing to do',
    20,
  ],
  [
    'it waited for a person until a moment ago',
    {
      sessions: [session('idle', 5, 3_600)],
      unreadSince: NOW - 7_000_000,
      askEnded: NOW - 60_000,
    },
    'idle',
    'nothing to do',
    3_600,
  ],
  [
    'it was answered long ago and does not read',
    {
      sessions: [session('idle', 5, 3_600)],
      unreadSince: NOW - 1_200_000,
      askEnded: NOW - 900_000,
    },
    'stuck',
    'has had unread messages for 20 min and does not read',
    900,
  ],
  [
    'it has not read for a while',
    { sessions: [session('idle', 5)], unreadSince: NOW - 500_000 },
    'idle',
    'nothing to do',
    5,
  ],

  [
    'an active session',
    { sessions: [session('active', 5, 300)] },
    'working',
    'codex_cli session is active',
    300,
  ],
  ['busy', { agent: agent('busy') }, 'working', 'busy', 30],
  [
    'busy with a task',
    { agent: agent('busy', { metadata: { currentTask: 'review\tTASK-1' } }) },
    'working',
    'review TASK-1',
    30,
  ],
  [
    'thinking in a thread',
    { presence: [presence('listening', 50), presence('thinking', 3)] },
    'working',
    'thinking',
    3,
  ],

  ['registered and heard of', { agent: agent('online') }, 'idle', 'nothing to do', 30],
  ['an idle session', { sessions: [session('idle', 5, 300)] }, 'idle', 'nothing to do', 300],
  ['connected, and no more is known', { links: [link] }, 'idle', 'nothing to do', 90],
];

test.each(table)('%s', (_name, known, state, reason, since) => {
  const facts: AgentFacts = {
    agent: undefined,
    sessions: [],
    presence: [],
    links: [],
    openAsks: [],
    unreadSince: undefined,
    ...known,
  };
  const { waits_for, ...stands } = standing(facts, patience, NOW);
  expect(stands).toEqual({ state, reason, since: ago(since) });
  const what = known.openAsks?.some((one) => one.agent_gone_since === undefined)
    ? 'answer'
    : state === 'needs_you'
      ? 'prompt'
      : reason.startsWith('rate-limited')
        ? 'rate_limit'
        : undefined;
  expect(waits_for?.what).toBe(what);
});

test('a reason is one line of bounded length', () => {
  const facts = { agent: agent('error', { metadata: { error: `a\n${'😀'.repeat(200)}` } }) };
  const none = { sessions: [], presence: [], links: [], openAsks: [], unreadSince: undefined };
  const { reason } = standing({ ...none, ...facts }, patience, NOW);
  expect(reason).toMatch(/^a 😀+…$/u);
  expect(reason.length).toBeLessThanOrEqual(160);
});
