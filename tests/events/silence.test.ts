import { describe, expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';

const scene = useHub();
const words = 'w'.repeat(1_720);

describe.each(faces)('over $name', (face) => {
  const as = (name: string, role = 'worker'): Participant => scene.as(name, { face, role });

  /** A thread with a side channel, a task and an ask of p, from before p fell silent. */
  async function room() {
    const [user, p, q] = [as('user', 'operator'), as('p'), as('q')];
    const thread_id = await p.thread('q', 'user');
    const aside = { title: 't', purpose: 'p', participants: ['q'] };
    const { thread_id: side } = await p.ok('open_side_channel', { thread_id, ...aside });
    const { message_id: task } = await q.ok('assign_task', { thread_id, to: 'p', body: 'do it' });
    const { ask_id } = (await p.ok('raise_ask', { thread_id, prompt: 'May I?' })).ask;
    const steer = (control: object) => user.ok('control_thread', { thread_id, control });
    const post = { schema_version: 1, body: words };
    const speaking = [
      ['post_message', { thread_id, ...post }],
      ['post_message', { thread_id: side, ...post }],
      ['update_thread_status', { thread_id, status: 'blocked', reason: words }],
      ['rename_thread', { thread_id, title: 'words' }],
      ['assign_task', { thread_id, to: 'q', body: words }],
      ['report_result', { thread_id, task, body: words }],
      ['report_event', { thread_id, event_type: 'info', data: { message: words } }],
      ['control_thread', { thread_id, control: { prod: ['q'] } }],
      ['control_thread', { thread_id, control: { profile: { client: 'words', model: 'words' } } }],
      ['control_thread', { thread_id: side, control: { invite: { participant_id: 'user' } } }],
      ['control_thread', { thread_id, control: { leave: true }, tags: ['words'] }],
      ['control_thread', { thread_id, tags: ['words'] }],
      ['set_presence', { thread_id, state: 'idle', profile: { client: 'words', model: 'words' } }],
      ['set_presence', { thread_id, state: 'idle', tags: ['words'] }],
      ['set_presence', { thread_id, state: 'thinking', tags: ['words'], persist: true }],
      ['open_side_channel', { thread_id, title: words.slice(0, 400), purpose: words }],
      ['close_side_channel', { thread_id: side, summary: words }],
      ['raise_ask', { thread_id, prompt: words }],
      ['ask_human', { thread_id, prompt: words, timeout_ms: 0 }],
      ['withdraw_ask', { ask_id, reason: words }],
    ] as const;
    /** What one who may not speak still may. */
    const silently = async () => {
      await p.ok('set_presence', { thread_id, state: 'thinking', persist: true });
      await p.ok('read_messages', { thread_id });
      await p.ok('ack_read', { thread_id, last_read_seq: 1 });
      await p.ok('summarize_thread', { thread_id });
      await p.ok('heartbeat_session', { runtime: 'codex_cli' });
      await p.ok('report_event', { event_type: 'info', data: { message: 'in my journal' } });
      expect((await p.ok('raise_ask', { prompt: 'May I speak?' })).ask.status).toBe('open');
      await p.ok('withdraw_ask', { ask_id });
    };
    return { user, p, q, thread_id, side, speaking, silently, steer };
  }

  test('who is muted puts no words into the thread, by whatever way', async () => {
    const { p, thread_id, speaking, silently, steer } = await room();
    await steer({ mute: { targets: ['p'] } });
    const waking = { thread_id, target_agent_id: 'q', reason: words, trigger_prompt: words };
    await scene.unchanged(async () => {
      for (const [name, input] of [...speaking, ['trigger_participant', waking] as const]) {
        const { message, details } = await p.refused(name, input, 'FORBIDDEN');
        expect([name, details]).toEqual([
          name,
          { reason: 'muted', hint: 'go on reading; say it when you are no longer muted' },
        ]);
        expect(message).toContain('you are muted in this thread');
      }
    });
    await silently();
    await steer({ unmute: { targets: ['p'] } });
    await p.ok('update_thread_status', { thread_id, status: 'blocked', reason: words });
  });

  test('in a paused thread only people speak, and those who steer go on to steer', async () => {
    const { user, p, thread_id, side, speaking, silently, steer } = await room();
    const chief = as('chief', 'orchestrator');
    await steer({ pause: { on: true } });
    await scene.unchanged(async () => {
      for (const [name, input] of speaking) {
        const { details } = await p.refused(name, input, 'FORBIDDEN');
        expect([name, details]).toEqual([
          name,
          { reason: 'paused', hint: 'go on reading; say it when the thread goes on' },
        ]);
      }
      await chief.refused('post_message', { thread_id: side, schema_version: 1, body: 'x' }, 'FORBIDDEN');
    });
    await silently();
    await user.say(side, 'a person');
    await user.ok('rename_thread', { thread_id, title: 'on hold' });
    await chief.ok('update_thread_status', { thread_id, status: 'closed', reason: 'stop it' });
  });
});
