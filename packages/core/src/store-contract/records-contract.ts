import { expect } from 'vitest';

import { stretchKey } from '../agents/stretch.ts';
import type { Command, NoteAgentStates } from '../commands.ts';
import { journalId } from '../threads/access.ts';
import { everyRecord, readPage, takeDue } from '../record-pages.ts';
import { sessionKey } from '../sessions/rules.ts';
import { beating, type Check, head, NOW, type Scene } from './scene.ts';

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
      expect(await list({ descending: true, past: 'delta', from: 'alphabet' })).toEqual(['beta', 'alphabet']);
      expect(await list({ from: 'alphabetic' })).toEqual(['beta', 'delta']);
      await store.transact(agentStatus(scene, 'beta', 'busy'));
      expect(await list({ marks: ['online'] })).toEqual(['delta']);
      expect(await list({ marks: ['busy'] })).toEqual(['alpha', 'beta']);
      await store.transact(beating(bob, 'idle'));
      expect(await list({})).toHaveLength(4);
    },
  );

  check(
    'what agents were at is listed by agent in the order of time, and found when it is over',
    async (scene) => {
      const { store, workspace_id } = scene;
      const hour = (nth: number): string => new Date(NOW + nth * 3_600_000).toISOString();
      const states = (['ann', 'bob'] as const).flatMap((agent_id) =>
        [0, 1, 2, 3].map((nth) => ({
          agent_id,
          workspace_id,
          state: 'idle' as const,
          reason: `${agent_id} ${nth}`,
          since: hour(nth),
          from: hour(nth),
          ...(nth === 3 ? {} : { until: hour(nth + 1) }),
        })),
      );
      const note = (input: NoteAgentStates['input']) =>
        store.transact({ type: 'note_agent_states', ...head(scene.alice), input });
      await note({ states, drops: [] });
      const query = {
        kind: 'agent_state',
        workspace_id,
        owners: ['bob', 'nobody', 'ann'],
        descending: true,
      } as const;
      const told = async (more: object): Promise<string[]> =>
        (await store.records({ ...query, limit: 9, ...more })).map(({ reason }) => reason);
      expect(await told({ from: hour(1), past: hour(3) })).toEqual(['bob 2', 'bob 1', 'ann 2', 'ann 1']);
      expect(await told({ past: hour(2), limit: 1 })).toEqual(['bob 1', 'ann 1']);
      expect(await told({ offset: 3, limit: 5 })).toEqual(['bob 0', 'ann 0']);
      const over: string[] = [];
      await takeDue(
        store,
        { kind: 'agent_state', mark: 'over', due_by: hour(2) },
        async (_workspace, old) => {
          over.push(...old.map(({ reason }) => reason));
          await note({ states: [], drops: old.map(stretchKey) });
        },
      );
      expect(over.toSorted()).toEqual(['ann 0', 'ann 1', 'bob 0', 'bob 1']);
      expect(await told({})).toEqual(['bob 3', 'bob 2', 'ann 3', 'ann 2']);
    },
  );

  check('agents are named once each, in order, by whatever is kept of them', async (scene) => {
    const { store, workspace_id, carol } = scene;
    const caller = (agent_id: string, session_id = `${agent_id}-1`) => ({
      agent_id,
      workspace_id,
      role: 'worker' as const,
      session_id,
    });
    await store.transact(agentStatus(scene, 'delta', 'online'));
    for (let i = 0; i < 20; i++) await store.transact(beating(caller('beta', `beta-${i}`), 'idle'));
    await store.transact(beating(caller('delta'), 'idle'));
    await store.transact(beating(carol, 'idle'));
    const names = (past?: string, limit = 9) => store.agents({ workspace_id, past, limit });
    expect(await names()).toEqual(['beta', 'delta']);
    expect(await names(undefined, 1)).toEqual(['beta']);
    expect(await names('beta')).toEqual(['delta']);
    expect(await names('delta')).toEqual([]);
    expect(await store.agents({ workspace_id: 'nowhere', past: undefined, limit: 9 })).toEqual([]);
  });

  check('of each owner so many sessions are given, those that were heard last', async (scene) => {
    const { store, workspace_id, alice, bob } = scene;
    for (const [session_id, late] of [
      ['a', 3],
      ['b', 1],
      ['c', 2],
    ] as const)
      for (const one of [alice, bob])
        await store.transact({ ...beating({ ...one, session_id }, 'idle'), now: NOW + late });
    const query = { kind: 'session', workspace_id, heard_last: true, limit: 2 } as const;
    const found = await store.records({ ...query, owners: ['bob', 'nobody', 'alice'] });
    expect(found.map(({ agent_id, session_id }) => `${agent_id} ${session_id}`)).toEqual([
      'bob a',
      'bob c',
      'alice a',
      'alice c',
    ]);
    expect((await store.records({ ...query, owner: 'bob' })).map(({ session_id }) => session_id)).toEqual([
      'a',
      'c',
    ]);
  });

  check('a list is read page by page to its end, also where little of it is wanted', async (scene) => {
    const { store, workspace_id, alice } = scene;
    const all = Array.from({ length: 60 }, (_, i) => `s${String(i).padStart(2, '0')}`);
    for (const session_id of all) await store.transact(beating({ ...alice, session_id }, 'idle'));
    const query = { kind: 'session', workspace_id } as const;
    const read = async (
      limit: number,
      keep?: (session_id: string) => boolean,
    ): Promise<[string[], number]> => {
      const found: string[] = [];
      let pages = 0;
      let after: string | undefined;
      do {
        const wanted = keep === undefined ? undefined : (one: { session_id: string }) => keep(one.session_id);
        const page = await readPage(store, query, { limit, after }, sessionKey, wanted);
        expect(page.values.length).toBeLessThanOrEqual(limit);
        found.push(...page.values.map(({ session_id }) => session_id));
        after = page.next_after ?? undefined;
        pages++;
      } while (after !== undefined);
      return [found, pages];
    };
    expect(await read(7)).toEqual([all, 9]);
    expect(await read(60)).toEqual([all, 1]);
    expect(await read(4, (id) => id === 's59')).toEqual([['s59'], 1]);
    expect((await read(4, (id) => id.endsWith('3')))[0]).toEqual(['s03', 's13', 's23', 's33', 's43', 's53']);
  });

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

  check('the housekeeping goes on after a record, through all workspaces', async (scene) => {
    const { store, alice, carol } = scene;
    for (const caller of [alice, carol])
      for (const agent_id of ['walk-1', 'walk-2', 'walk-3'])
        await store.transact({
          ...agentStatus(scene, agent_id, 'busy'),
          caller: { ...caller, agent_id },
        });
    const found: string[] = [];
    for await (const { workspace_id, agent_id } of everyRecord(store, 'agent', 'busy', (one) => one.agent_id))
      if (agent_id.startsWith('walk-')) found.push(`${workspace_id} ${agent_id}`);
    const own = [alice, carol].flatMap(({ workspace_id }) =>
      ['walk-1', 'walk-2', 'walk-3'].map((name) => `${workspace_id} ${name}`),
    );
    expect(found.filter((one) => own.includes(one))).toEqual(own.toSorted());
    const query = { kind: 'agent', workspace_id: undefined, marks: ['busy'], limit: 1 } as const;
    for (const key of ['walk-1', 'walk-2']) {
      const after = { workspace_id: alice.workspace_id, key };
      const [next] = await store.records({ ...query, after });
      expect(next?.agent_id).toBe(key === 'walk-1' ? 'walk-2' : 'walk-3');
    }
  });

  check('what is due comes by its moment, the earliest first, whatever its workspace', async (scene) => {
    const { store, alice, carol } = scene;
    const far = 4e12;
    const nonces = [
      [alice, 'third', far + 30],
      [carol, 'first', far + 10],
      [alice, 'second', far + 20],
      [carol, 'fourth', far + 40],
    ] as const;
    for (const [caller, nonce, until] of nonces)
      await store.transact({ type: 'use_nonce', ...head(caller), input: { kid: 'k', nonce, until } });
    const due = async (due_by: number, limit = 100): Promise<number[]> => {
      const query = { kind: 'nonce', workspace_id: undefined, marks: ['used'], due_by, limit } as const;
      return (await store.records(query)).map(({ until }) => until - far).filter((after) => after > 0);
    };
    expect(await due(far + 30)).toEqual([10, 20, 30]);
    expect(await due(far + 9)).toEqual([]);
    const taken: string[] = [];
    await takeDue(store, { kind: 'nonce', mark: 'used', due_by: far + 30 }, async (workspace_id, values) => {
      const caller = workspace_id === carol.workspace_id ? carol : alice;
      const keys = values.map(({ key }) => key);
      taken.push(...keys);
      const forget = { ...head(caller), now: far + 30, input: { keys } };
      await store.transact({ type: 'forget_nonces', ...forget });
    });
    expect(taken).toEqual(expect.arrayContaining(['k first', 'k second', 'k third']));
    expect(await due(far + 50)).toEqual([40]);
    // What nobody takes does not hold up who looks for it.
    let looked = 0;
    await takeDue(store, { kind: 'nonce', mark: 'used', due_by: far + 50 }, async () => void looked++);
    expect(looked).toBe(1);
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
