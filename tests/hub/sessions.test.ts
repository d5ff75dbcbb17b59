import { expect, test } from 'vitest';

import { loadConfig } from '../../packages/hub/src/config/load.ts';
import { faces } from '../harness/call.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';

const OFFLINE_AFTER_MS = 1_500;
const scene = useHub({ settings: { 'sessions.offline_after_ms': OFFLINE_AFTER_MS } });

test.each(faces)(
  '[HUB-M8] [HUB-E5] a heartbeat over $name puts the session into the registry',
  async (face) => {
    const workspace = `beats-${face.name.replaceAll(/\W/g, '')}`;
    const alice = scene.as('alice', { face, workspace, session: 'sess_rv_12' });
    const before = Date.now();
    const beat = await alice.ok('heartbeat_session', {
      agent_id: 'alice',
      workspace_id: workspace,
      session_id: 'sess_rv_12',
      runtime: 'codex_cli',
      resumable: true,
      status: 'idle',
      management_mode: 'managed',
    });
    expect(beat).toEqual({ ok: true, recorded_at: beat.recorded_at });
    expect(Date.parse(beat.recorded_at)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(beat.recorded_at)).toBeLessThanOrEqual(Date.now());
    const session = {
      agent_id: 'alice',
      workspace_id: workspace,
      session_id: 'sess_rv_12',
      runtime: 'codex_cli',
      management_mode: 'managed',
      resumable: true,
      last_heartbeat_at: beat.recorded_at,
      status: 'idle',
    };
    expect((await alice.ok('list_sessions', {})).sessions).toEqual([session]);
    const again = await alice.ok('heartbeat_session', { runtime: 'codex_cli' });
    expect((await alice.ok('list_sessions', {})).sessions).toEqual([
      {
        ...session,
        status: 'active',
        management_mode: 'unmanaged',
        resumable: false,
        last_heartbeat_at: again.recorded_at,
      },
    ]);
  },
);

test('[HUB-E5] [HUB-M10] sessions are listed by agent and by status', async () => {
  const workspace = 'listing';
  const beat = (agent: string, session: string, status: string) =>
    scene
      .as(agent, { workspace, session })
      .ok('heartbeat_session', { runtime: 'claude_code', status: status as 'idle' });
  await beat('alice', 'a1', 'active');
  await beat('alice', 'a2', 'idle');
  await beat('bob', 'b1', 'idle');
  await beat('carol', 'c1', 'offline');
  const watcher = scene.as('watcher', { workspace, role: 'observer' });
  const ids = async (filter: Record<string, unknown>): Promise<string[]> =>
    (await watcher.ok('list_sessions', filter)).sessions.map(({ session_id }) => session_id);
  expect(await ids({})).toEqual(['a1', 'a2', 'b1', 'c1']);
  expect(await ids({ of_agent: 'alice' })).toEqual(['a1', 'a2']);
  expect(await ids({ status: 'idle' })).toEqual(['a2', 'b1']);
  expect(await ids({ of_agent: 'alice', status: 'active' })).toEqual(['a1']);
  expect(await ids({ status: 'offline' })).toEqual(['c1']);
  await watcher.refused('list_sessions', { status: 'busy' }, 'VALIDATION_ERROR');
});

test('[HUB-E6] [C-WAKE-01] a session that falls silent reads offline, and its next heartbeat brings it back', async () => {
  const callers = faces.map((face, i) => scene.as('alice', { face, workspace: `silence-${i}` }));
  const status = async (alice: Participant) => (await alice.ok('list_sessions', {})).sessions[0]?.status;
  for (const alice of callers)
    for (const sent of ['active', 'idle', 'active'] as const) {
      await alice.ok('heartbeat_session', { runtime: 'codex_cli', status: sent });
      expect(await status(alice)).toBe(sent);
    }
  await new Promise((resolve) => setTimeout(resolve, OFFLINE_AFTER_MS + 100));
  for (const alice of callers) {
    expect(await status(alice)).toBe('offline');
    await alice.ok('heartbeat_session', { runtime: 'codex_cli', status: 'idle' });
    expect(await status(alice)).toBe('idle');
  }
});

test('[C-WAKE-01] a session may be silent for 120 s, unless the settings say otherwise', () => {
  expect(loadConfig({}, { HOME: '/nowhere' }).config.sessions.offline_after_ms).toBe(120_000);
});

test('[C-WAKE-01] the time of a heartbeat is the hub’s, whatever the client says', async () => {
  const alice = scene.as('alice', { workspace: 'clock' });
  const lie = {
    runtime: 'codex_cli',
    recorded_at: '1999-01-01T00:00:00.000Z',
    last_heartbeat_at: '2999-01-01T00:00:00.000Z',
  };
  const { recorded_at } = await alice.ok('heartbeat_session', lie);
  expect(Math.abs(Date.parse(recorded_at) - Date.now())).toBeLessThan(60_000);
  expect((await alice.ok('list_sessions', {})).sessions[0]?.last_heartbeat_at).toBe(recorded_at);
});

test.each(faces)(
  '[C-WAKE-02] a bad heartbeat over $name is refused and leaves the registry alone',
  async (face) => {
    const alice = scene.as('alice', { face });
    await scene.unchanged(async () => {
      const mismatch = { runtime: 'codex_cli', session_id: 'another' };
      await alice.refused('heartbeat_session', mismatch, 'CLAIM_MISMATCH');
      await alice.refused('heartbeat_session', { runtime: 'codex_cli', agent_id: 'bob' }, 'CLAIM_MISMATCH');
      for (const [field, change] of [
        ['runtime', { runtime: 'x'.repeat(10_240) }],
        ['runtime', { runtime: 'x'.repeat(65) }],
        ['runtime', { runtime: '' }],
        ['runtime', { runtime: undefined }],
        ['status', { status: 'busy' }],
        ['management_mode', { management_mode: 'self' }],
        ['resumable', { resumable: 'yes' }],
      ] as const) {
        const error = await alice.refused(
          'heartbeat_session',
          { runtime: 'codex_cli', ...change },
          'VALIDATION_ERROR',
        );
        expect(error.details['field']).toBe(field);
      }
    });
  },
);
