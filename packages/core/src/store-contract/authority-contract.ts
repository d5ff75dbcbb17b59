import type { Caller } from '@parley/protocol';
import { expect } from 'vitest';

import { ALL, callerOf, type Check, head, posting, type Scene } from './scene.ts';

type Event = Record<string, unknown> & { event_type: string };

/** Who may decide what: the same in every store, since only the rules know. */
export function testAuthority(check: Check): void {
  const report = ({ store, t }: Scene, who: Caller, metadata: Event, more = {}) =>
    store.transact(posting(t, metadata.event_type, who, { input: { kind: 'event', metadata, ...more } }));
  const verify = (scene: Scene, who: Caller, more: object = {}) =>
    report(scene, who, { event_type: 'finding_verified', ...more });
  const close = ({ store, t }: Scene, who: Caller) =>
    store.transact({
      type: 'update_status',
      ...head(who),
      thread_id: t,
      input: { status: 'closed', reason: 'over' },
    });
  const open = async ({ store, workspace_id, t }: Scene) => {
    const { located } = await store.page({ workspace_id, thread_id: t, after: 0, ...ALL });
    return located.thread?.findings.map(({ finding_id }) => finding_id);
  };

  check(
    'a finding is settled by its reporter, a named reviewer, or who steers, and by nobody else',
    async (scene) => {
      const { store, alice, bob, chief, workspace_id, t } = scene;
      const [dora, boss] = [callerOf('dora', workspace_id), callerOf('boss', workspace_id, 'orchestrator')];
      const invite = { control: { invite: { participant_id: 'dora' } } };
      await store.transact({ type: 'control_thread', ...head(chief), thread_id: t, input: invite });
      for (const finding_id of ['F1', 'F2', 'F3', 'F4', 'F5'])
        await report(scene, bob, { event_type: 'finding_reported', finding_id, task_id: 'T' });
      const refused = (doing: Promise<unknown>) =>
        expect(doing).rejects.toMatchObject({ code: 'INSUFFICIENT_AUTHORITY' });
      await refused(close(scene, alice));
      await refused(verify(scene, alice, { finding_id: 'F1' }));
      const first = (await store.page({ workspace_id, thread_id: t, after: 1, ...ALL })).entries[0]
        ?.message_id;
      await refused(
        report(scene, alice, { event_type: 'finding_verified', finding_id: '?' }, { in_reply_to: first }),
      );
      // Nobody makes themselves the reviewer, nor is one named for another finding.
      await report(scene, alice, { event_type: 're_review_requested', reviewer: 'alice' });
      await report(scene, alice, { event_type: 're_review_requested', reviewer: 'dora', finding_id: 'F2' });
      await refused(verify(scene, alice, { finding_id: 'F1' }));
      await refused(verify(scene, dora, { finding_id: 'F1' }));
      expect(await open(scene)).toEqual(['F1', 'F2', 'F3', 'F4', 'F5']);
      await verify(scene, bob, { finding_id: 'F1' });
      await verify(scene, dora, { finding_id: 'F2' });
      await verify(scene, boss, { finding_id: 'F3' });
      await verify(scene, chief, { finding_id: 'F4' });
      expect(await open(scene)).toEqual(['F5']);
      // The only one left is meant without its name, too.
      await refused(verify(scene, alice));
      await refused(close(scene, alice));
      await report(scene, alice, { event_type: 're_review_requested', task_id: 'T' }, { to: 'dora' });
      await verify(scene, dora);
      await close(scene, alice);
    },
  );

  check('a reporter may name who settles the finding', async (scene) => {
    const { alice, bob } = scene;
    await report(scene, bob, { event_type: 'finding_reported', finding_id: 'F1', reviewer: 'alice' });
    await verify(scene, alice, { finding_id: 'F1' });
    expect(await open(scene)).toEqual([]);
  });
}
