import { type Caller, type Control, NO_LONGER_NEEDED, type ParleyError } from '@parley/protocol';
import { expect } from 'vitest';

import type { Command } from '../commands.ts';
import { journalId } from '../threads/access.ts';
import { acking, ALL, callerOf, type Check, head, posting, type Scene } from './scene.ts';

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
  const unsettled = async ({ store, workspace_id, t }: Scene) => {
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
      expect(await unsettled(scene)).toEqual(['F1', 'F2', 'F3', 'F4', 'F5']);
      await verify(scene, bob, { finding_id: 'F1' });
      await verify(scene, dora, { finding_id: 'F2' });
      await verify(scene, boss, { finding_id: 'F3' });
      await verify(scene, chief, { finding_id: 'F4' });
      expect(await unsettled(scene)).toEqual(['F5']);
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
    expect(await unsettled(scene)).toEqual([]);
  });

  check(
    'mute and pause hold for every way to put words into a thread, and in its side channels',
    async (scene) => {
      const { store, alice, bob, chief, workspace_id, t } = scene;
      const boss = callerOf('boss', workspace_id, 'orchestrator');
      const [side, journal] = [`${t}-side`, journalId(workspace_id, 'alice')];
      const into = <T extends string, const I>(who: Caller, type: T, input: I, thread_id = t) => ({
        type,
        ...head(who),
        thread_id,
        input,
      });
      const control = (who: Caller, given: Control, thread_id = t) =>
        into(who, 'control_thread', { control: given }, thread_id);
      const aside = { title: 'aside', purpose: 'detail', participants: ['alice'] };
      await store.transact({ ...into(alice, 'open_side', aside), side_id: side });
      const task = await store.transact(into(bob, 'assign_task', { to: 'alice', body: 'do it' }));
      const content = { kind: 'question', prompt: 'may I?', risk: 'low', expires_in_ms: 1e9 } as const;
      const ask_id = `ask_${t}`;
      await store.transact({ ...into(alice, 'raise_ask', content), ask_id });
      const speaking = (who: Caller): Command[] => [
        posting(t, 'words', who),
        posting(side, 'words', who),
        into(who, 'update_status', { status: 'blocked', reason: 'words' }),
        into(who, 'rename_thread', { title: 'words' }),
        into(who, 'assign_task', { to: 'bob', body: 'words' }),
        into(who, 'report_result', { task: task.result.message_id, body: 'words' }),
        into(who, 'report_event', { event_type: 'info', data: { message: 'words' } }),
        control(who, { prod: ['bob'] }),
        control(who, { profile: { client: 'words', model: 'words' } }),
        control(who, { profile: { client: 'words', model: 'words' } }, side),
        { ...into(who, 'open_side', aside), side_id: `${t}-other` },
        { ...into(who, 'close_side', { summary: 'words' }, side), main_id: t },
        { ...into(who, 'raise_ask', content), ask_id: `${ask_id}2` },
        { ...into(who, 'withdraw_ask', { reason: 'words' }), ask_id },
      ];
      const refused = async (commands: readonly Command[], reason: string) => {
        for (const command of commands) {
          const said = await store.transact(structuredClone(command)).then(
            () => 'it was taken',
            (error: ParleyError) => error.details?.['reason'] ?? error.message,
          );
          expect([command.type, said]).toEqual([command.type, reason]);
        }
      };
      await store.transact(control(chief, { mute: { targets: ['alice'], mode: 'hard' } }));
      await refused(speaking(alice), 'muted');
      await store.transact(control(chief, { unmute: { targets: ['alice'] } }));
      await store.transact(control(chief, { pause: { on: true } }));
      await refused(speaking(alice), 'paused');
      // Who steers goes on to steer, and says nothing else; who is silent still shows itself, reads and asks a person.
      await refused([posting(t, 'words', boss), control(boss, { prod: ['bob'] })], 'paused');
      await store.transact(into(boss, 'update_status', { status: 'blocked', reason: 'stop' }));
      await store.transact(control(boss, { invite: { participant_id: 'dora' } }));
      await store.transact(into(alice, 'note_presence', { transition: 'thinking.start', state: 'thinking' }));
      await store.transact(acking(t, 1, alice));
      await store.transact({ ...into(alice, 'raise_ask', content, journal), ask_id: `${ask_id}3` });
      await store.transact({ ...into(alice, 'withdraw_ask', { reason: NO_LONGER_NEEDED }), ask_id });
      await store.transact(posting(side, 'a person', chief));
    },
  );

  check(
    'a rule approves no command that the hub itself calls high risk',
    async ({ store, alice, chief, workspace_id }) => {
      const thread_id = journalId(workspace_id, 'alice');
      const given = { of_agent: 'alice', given_by: 'chief', created_at: '2030-01-01T00:00:00.000Z', uses: 0 };
      const settle = async (name: string, command: string) => {
        const [approval_rule_id, ask_id] = [`rule-${name}`, `ask_${name}`];
        const approval_rule = { ...given, approval_rule_id, workspace_id, command };
        await store.transact({
          type: 'add_approval_rule',
          ...head(chief),
          thread_id,
          approval_rule,
          input: {},
        });
        const input = {
          kind: 'approval',
          prompt: 'may I?',
          risk: 'low',
          expires_in_ms: 1e9,
          command,
        } as const;
        await store.transact({ type: 'raise_ask', ...head(alice), thread_id, ask_id, input });
        const use = {
          type: 'apply_approval_rule',
          ...head(chief),
          thread_id,
          ask_id,
          input: { approval_rule_id },
        } as const;
        return (await store.transact(use)).result.ask;
      };
      expect(await settle('plain', 'git push origin main')).toMatchObject({
        status: 'answering',
        risk: 'low',
      });
      expect(await settle('forced', 'git push -f origin main')).toMatchObject({
        status: 'open',
        risk: 'high',
        risk_hints: ['force_push'],
      });
    },
  );
}
