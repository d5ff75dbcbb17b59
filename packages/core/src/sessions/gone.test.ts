import { expect, test } from 'vitest';

import type { StoredSession } from './stored-session.ts';
import { goneSince, type SessionSigns } from './gone.ts';

const NOW = Date.parse('2030-01-01T12:00:00Z');
const patience = { returnMs: 30_000 };
const ago = (seconds: number): number => NOW - seconds * 1_000;

function session(heard: number, more: Partial<StoredSession> = {}): StoredSession {
  const at = new Date(ago(heard)).toISOString();
  return {
    agent_id: 'a',
    workspace_id: 'w',
    session_id: 's',
    runtime: 'codex',
    management_mode: 'unmanaged',
    resumable: false,
    status: 'idle',
    last_heartbeat_at: at,
    since: at,
    ...more,
  };
}

const managed = { management_mode: 'managed' } as const;
const nothing: SessionSigns = { session: undefined, connection: undefined, after: ago(3_600) };

test.each<[what: string, signs: Partial<SessionSigns>, gone: number | undefined]>([
  ['nobody ever heard of it', {}, undefined],
  ['it is connected, however silent', { connection: 'connected', session: session(900) }, undefined],
  ['its connection is gone', { connection: { lost: ago(5) }, session: session(9) }, ago(5)],
  ['the same without a heartbeat', { connection: { lost: ago(5) } }, ago(5)],
  ['it has beaten since', { connection: { lost: ago(9) }, session: session(5, managed) }, undefined],
  ['it took leave', { session: session(7, { status: 'offline' }) }, ago(7)],
  ['it took leave before it asked', { session: session(7, { status: 'offline' }), after: ago(5) }, undefined],
  ['it beats', { session: session(60) }, undefined],
  ['nobody has it in hand, and it fell silent', { session: session(3_000) }, undefined],
  ['a managed one that asked since', { session: session(500, managed), after: ago(20) }, undefined],
  ['a managed one without its connection', { session: session(31, managed) }, ago(1)],
  ['the hub has just come up', { session: session(900, managed), after: ago(20) }, undefined],
  ['the hub came up, and it did not come back', { session: session(900, managed), after: ago(40) }, ago(10)],
])('%s', (_what, signs, gone) => {
  expect(goneSince({ ...nothing, ...signs }, patience, NOW)).toBe(gone);
});
