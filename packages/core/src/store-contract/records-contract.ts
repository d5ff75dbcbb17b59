import { expect } from 'vitest';

import type { Command } from '../commands.ts';
import { journalId } from '../threads/access.ts';
import { beating, type Check, head, type Scene } from './scene.ts';

/** What is kept beside the log: one current value per key, listed by mark, by prefix, in order. */
export function testRecords(check: Check): void {
  check(
    'sessions are kept one per agent and session, in order',
    async ({ store, alice, bob, carol, workspace_id }) => {
      await store.transact(beating(bob, 'active'));
      await store.transact(beating(alice, 'active'));
      await store.transact(beating({ ...alice, session_id: 'alice-0' }, 'idle'));
      await store.transact(beating(alice, 'idle'));
      await store.transact(beating(carol, 'idle'));
      const sessions = await store.records({ kind: 'session', workspace_id, limit: 100 });
      expect(sessions.map(({ agent_id, session_id, status }) => [agent_id, session_id, status])).toEqual([
        ['alice', 'alice-0', 'idle'],
        ['alice', 'alice-1', 'idle'],
        ['bob', 'bob-1', 'active'],
      ]);
      expect(await store.records({ kind: 'session', workspace_id: 'nowhere', limit: 100 })).toEqual([]);
    },
  );

  check(
    'records are listed by their marks, by the beginning of their keys, in order and up to a limit',
    async (scene) => {
      const { store, workspace_id, bob } = scene;
      for (const [name, status] of [
        ['delta', 'online'],
        ['alpha', 'busy'],
        ['beta', 'online'],
        ['alphabet', 'error'],
      ] as const)
        await store.transact(agentStatus(scene, name, status));
      const list = async (more: object): Promise<string[]> =>
        (await store.records({ kind: 'agent', workspace_id, limit: 100, ...more })).map(
          ({ agent_id }) => agent_id,
        );
      expect(await list({})).toEqual(['alpha', 'alphabet', 'beta', 'delta']);
      expect(await list({ marks: ['online'] })).toEqual(['beta', 'delta']);
      expect(await list({ marks: ['online', 'error'] })).toEqual(['alphabet', 'beta', 'delta']);
      expect(await list({ marks: [] })).toEqual([]);
      expect(await list({ prefix: 'alpha' })).toEqual(['alpha', 'alphabet']);
      expect(await list({ prefix: 'alpha', marks: ['busy'] })).toEqual(['alpha']);
      expect(await list({ prefix: 'alphabetic' })).toEqual([]);
      expect(await list({ limit: 2 })).toEqual(['alpha', 'alphabet']);
      expect(await list({ owner: 'beta' })).toEqual(['beta']);
      expect(await list({ past: 'alphabet' })).toEqual(['beta', 'delta']);
      expect(await list({ descending: true, limit: 3 })).toEqual(['delta', 'beta', 'alphabet']);
      expect(await list({ descending: true, past: 'beta' })).toEqual(['alphabet', 'alpha']);
      await store.transact(agentStatus(scene, 'beta', 'busy'));
      expect(await list({ marks: ['online'] })).toEqual(['delta']);
      expect(await list({ marks: ['busy'] })).toEqual(['alpha', 'beta']);
      await store.transact(beating(bob, 'idle'));
      expect(await list({})).toHaveLength(4);
    },
  );

  check('the hub’s own housekeeping lists the records of all workspaces', async (scene) => {
    const { store, workspace_id, carol } = scene;
    await store.transact(agentStatus(scene, 'zoe', 'error'));
    await store.transact({ ...agentStatus(scene, 'zoe', 'error'), caller: { ...carol, agent_id: 'zoe' } });
    const found = await store.records({
      kind: 'agent',
      workspace_id: undefined,
      marks: ['error'],
      limit: 1_000,
    });
    const workspaces = found.filter(({ agent_id }) => agent_id === 'zoe').map((agent) => agent.workspace_id);
    expect(workspaces).toEqual(expect.arrayContaining([workspace_id, carol.workspace_id]));
    expect(workspaces.toSorted()).toEqual(workspaces);
  });

  check('an ask and its entry are written together, and an answer finds the ask again', async (scene) => {
    const { store, workspace_id, alice, chief } = scene;
    const thread_id = journalId(workspace_id, 'alice');
    const ask_id = `ask_${workspace_id}`;
    const raising = {
      type: 'raise_ask',
      ...head(alice),
      thread_id,
      ask_id,
      input: { kind: 'question', prompt: 'may I?', risk: 'low', expires_in_ms: 60_000 },
    } as const;
    await store.transact(raising);
    const asks = (marks: string[]) => store.records({ kind: 'ask', workspace_id, marks, limit: 9 });
    expect(await asks(['open'])).toMatchObject([{ ask_id, agent_id: 'alice', thread_id, status: 'open' }]);
    const answer = { type: 'answer_ask', thread_id, ask_id, input: { decision: 'approved' } } as const;
    await expect(store.transact({ ...answer, ...head(alice) })).rejects.toMatchObject({
      code: 'INSUFFICIENT_AUTHORITY',
    });
    await store.transact({ ...answer, ...head(chief) });
    expect(await asks(['open'])).toEqual([]);
    expect(await asks(['answering'])).toMatchObject([
      { ask_id, verdict: { decision: 'approved', by: 'chief' } },
    ]);
    const { entries } = await store.page({ workspace_id, thread_id, after: -1, limit: 9, max_bytes: 1e9 });
    expect(entries.map(({ type }) => type)).toEqual(['thread.created', 'ask.raised', 'ask.answered']);
  });
}

function agentStatus({ alice }: Scene, agent_id: string, status: 'online' | 'busy' | 'error'): Command {
  return { type: 'update_agent_status', ...head({ ...alice, agent_id }), input: { status } };
}
