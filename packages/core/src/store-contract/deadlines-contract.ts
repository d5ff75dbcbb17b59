import { expect } from 'vitest';

import type { DeviceRecord } from '../records.ts';
import { journalId } from '../threads/access.ts';
import { bodies, type Check, creating, head, posting } from './scene.ts';

/** What ends at a time is decided by the time at which its turn comes, not by that of the gate it came through. */
export function testDeadlines(check: Check): void {
  check('a command whose deadline passed while it waited is refused and leaves no trace', async (scene) => {
    const { store, alice, t, page } = scene;
    const now = Date.now();
    const waited = { now: now - 5_000, key: 'k' };
    const late = { ...posting(t, 'late', alice, waited), deadline: now - 2_000 };
    await expect(store.transact(late)).rejects.toMatchObject({ code: 'EXPIRED' });
    expect(bodies(await page())).toEqual([]);
    // Nothing is kept of its key either; and what was done in time is answered again however late.
    const inTime = { ...posting(t, 'in time', alice, waited), deadline: now + 600_000 };
    const first = await store.transact(inTime);
    expect(first).toMatchObject({ replayed: false });
    const again = { ...posting(t, 'in time', alice, waited), deadline: now - 2_000 };
    expect(await store.transact(again)).toEqual({ result: first.result, replayed: true });
    expect(bodies(await page())).toEqual(['in time']);
  });

  check(
    'a record says when it was decided, and a clock that was set back takes nothing back',
    async (scene) => {
      const { store, alice, t } = scene;
      const before = Date.now();
      const made = async (name: string, now: number) => {
        const { result } = await store.transact(creating(`${t}-${name}`, alice, [], now));
        return Date.parse(result.created_at);
      };
      expect(await made('waited', before - 60_000)).toBeGreaterThanOrEqual(before);
      expect(await made('ahead', before + 60_000)).toBe(before + 60_000);
    },
  );

  check(
    'an answer that reaches an ask after its time is too late, though it was sent in time',
    async (scene) => {
      const { store, alice, chief, workspace_id } = scene;
      const thread_id = journalId(workspace_id, alice.agent_id);
      const about = { thread_id, ask_id: 'ask_late' };
      const input = { kind: 'question', prompt: 'may I?', risk: 'low', expires_in_ms: 1 } as const;
      await store.transact({ type: 'raise_ask', ...head(alice, Date.now()), ...about, input });
      const sent = head(chief, Date.now() - 60_000);
      await new Promise((resolve) => setTimeout(resolve, 10));
      const answer = { decision: 'approved' } as const;
      const { result } = await store.transact({ type: 'answer_ask', ...sent, ...about, input: answer });
      expect(result.ask).toMatchObject({
        status: 'resolved',
        verdict: { decision: 'denied', by: 'parley' },
      });
    },
  );

  check('a device that fell out of use while its renewal waited does not come back', async (scene) => {
    const { store, chief, workspace_id } = scene;
    const expires_at = new Date(Date.now() - 1_000).toISOString();
    const device: DeviceRecord = {
      device_id: 'tablet',
      name: 'Tablet',
      workspace_id,
      agent_id: 'chief',
      role: 'operator',
      read_only: false,
      created_at: expires_at,
      last_seen_at: expires_at,
      expires_at,
      secret_hash: 'x',
    };
    await store.transact({ type: 'add_device', ...head(chief), input: { device } });
    const renewal = { device_id: 'tablet', expires_at: new Date(Date.now() + 60_000).toISOString() };
    const sent = head(chief, Date.now() - 60_000);
    const { result } = await store.transact({ type: 'touch_device', ...sent, input: renewal });
    expect(result.device).toEqual(device);
  });
}
