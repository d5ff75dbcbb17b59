import { fileURLToPath } from 'node:url';

import { describe, expect, onTestFinished, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { freshFolder } from '../harness/start-hub.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';
import { openSupervisor } from '../wake/scripted-supervisor.ts';

const workspace = 'wk_mobile_core';
const home = freshFolder();
const codex = {
  agent: 'reviewer_agent',
  workspace,
  runtime: 'codex',
  bin: fileURLToPath(new URL('../wake/telling-codex.mjs', import.meta.url)),
  cwd: home,
  home,
  doors: ['resume'],
};

const scene = useHub({ settings: { 'wake.agents': JSON.stringify([codex]) } });

/** The inputs of the specification, word for word; `th_01JXYZ` stands for the thread that the first one makes. */
const INPUTS = {
  create_thread: `{
  "workspace_id": "wk_mobile_core",
  "title": "Profile mapper review loop",
  "type": "workflow",
  "participants": ["executioner_agent", "reviewer_agent"],
  "created_by": "coordinator_agent"
}`,
  get_thread: `{
  "thread_id": "th_01JXYZ"
}`,
  post_message: `{
  "thread_id": "th_01JXYZ",
  "schema_version": 1,
  "sender_agent_id": "reviewer_agent",
  "sender_session_id": "sess_rv_12",
  "kind": "event",
  "body": "Blocking issue found in null fallback",
  "metadata": {
    "event_type": "finding_reported",
    "severity": "high",
    "file": "lib/features/profile/data/mappers/user_mapper.dart",
    "line": 42,
    "task_id": "TASK-219"
  },
  "idempotency_key": "rv-find-219-1"
}`,
  read_messages: `{
  "thread_id": "th_01JXYZ",
  "agent_id": "executioner_agent",
  "since_seq": 21,
  "limit": 50
}`,
  ack_read: `{
  "thread_id": "th_01JXYZ",
  "agent_id": "executioner_agent",
  "last_read_seq": 27
}`,
  update_thread_status: `{
  "thread_id": "th_01JXYZ",
  "agent_id": "reviewer_agent",
  "status": "resolved",
  "reason": "all_findings_verified"
}`,
  summarize_thread: `{
  "thread_id": "th_01JXYZ",
  "max_messages": 200
}`,
  heartbeat_session: `{
  "agent_id": "reviewer_agent",
  "workspace_id": "wk_mobile_core",
  "session_id": "sess_rv_12",
  "runtime": "codex_cli",
  "resumable": true,
  "status": "idle"
}`,
  trigger_participant: `{
  "thread_id": "th_01JXYZ",
  "target_agent_id": "reviewer_agent",
  "reason": "new_unread_messages",
  "trigger_prompt": "You have unread messages in thread th_01JXYZ. Read new messages, continue review workflow, and post status update."
}`,
} as const;

/** The outputs of the specification, word for word. */
const OUTPUTS = {
  create_thread: `{
  "thread_id": "th_01JXYZ",
  "status": "active",
  "created_at": "2026-02-17T12:00:00Z"
}`,
  get_thread: `{
  "thread_id": "th_01JXYZ",
  "workspace_id": "wk_mobile_core",
  "title": "Profile mapper review loop",
  "type": "workflow",
  "status": "active",
  "participants": ["executioner_agent", "reviewer_agent"],
  "created_at": "2026-02-17T12:00:00Z",
  "updated_at": "2026-02-17T12:05:00Z"
}`,
  post_message: `{
  "message_id": "msg_8ab2",
  "seq": 27,
  "thread_status": "active",
  "created_at": "2026-02-17T12:05:00Z"
}`,
  read_messages: `{
  "messages": [
    {
      "message_id": "msg_8ab2",
      "seq": 27,
      "kind": "event",
      "body": "Blocking issue found in null fallback",
      "metadata": {
        "event_type": "finding_reported",
        "severity": "high"
      },
      "sender_agent_id": "reviewer_agent",
      "created_at": "2026-02-17T12:05:00Z"
    }
  ],
  "next_seq": 27,
  "has_more": false
}`,
  ack_read: `{
  "ok": true,
  "updated_at": "2026-02-17T12:05:06Z"
}`,
  update_thread_status: `{
  "thread_id": "th_01JXYZ",
  "status": "resolved",
  "updated_at": "2026-02-17T12:20:00Z"
}`,
  summarize_thread: `{
  "summary": "2 blocking findings reported; both resolved after commits abc1234 and def5678.",
  "open_items": [],
  "last_status": "resolved"
}`,
  heartbeat_session: `{
  "ok": true,
  "recorded_at": "2026-02-17T12:25:00Z"
}`,
  trigger_participant: `{
  "target_agent_id": "reviewer_agent",
  "action": "trigger_runtime",
  "result": "deferred",
  "defer_reason": "human_input_busy",
  "deferred_until": "2026-02-17T12:26:03Z",
  "fallback_action": "resume_session",
  "runtime_command": "codex exec resume sess_rv_12 \\"You have unread messages in thread th_01JXYZ...\\"",
  "triggered_at": "2026-02-17T12:25:03Z"
}`,
} as const;

const REFUSAL = `{
  "error": {
    "code": "FORBIDDEN",
    "message": "agent not allowed to post to this thread",
    "request_id": "req_1234"
  }
}`;

const RESUMABLE = '019a0000-0000-7000-8000-000000000001';
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;

/** What a hub says in its own words, by its form: times, ids, prose. */
function form(value: unknown, field = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => form(one));
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, form(one, name)]));
  if (typeof value !== 'string') return value;
  if (field === 'summary' || field === 'message') return 'prose';
  return TIME.test(value) ? 'time' : value.replace(/^(th|msg|req)_.*$/, '$1_');
}

describe.each(faces)('over $name', (face) => {
  test('[HUB-M1] [HUB-M2] [HUB-M3] [HUB-M4] [HUB-M5] [HUB-M6] [HUB-M7] [HUB-M8] [HUB-M9] every example of the specification is taken word for word, and answered with every field', async () => {
    const coordinator = scene.as('coordinator_agent', { face, workspace });
    const executioner = scene.as('executioner_agent', { face, workspace });
    const reviewer = scene.as('reviewer_agent', { face, workspace, session: 'sess_rv_12' });
    let thread_id = 'th_01JXYZ';
    const input = (name: keyof typeof INPUTS): never =>
      JSON.parse(INPUTS[name].replaceAll('th_01JXYZ', thread_id)) as never;

    /** Sends the example; what the document shows is answered, and perhaps more. */
    async function answers<N extends keyof typeof INPUTS>(who: Participant, name: N, left: string[] = []) {
      const answer = await who.ok(name, input(name));
      const documented = Object.entries(JSON.parse(OUTPUTS[name]) as Record<string, unknown>);
      const shown = Object.fromEntries(documented.filter(([field]) => !left.includes(field)));
      expect(form(answer)).toMatchObject(form(shown) as Record<string, unknown>);
      return answer;
    }

    ({ thread_id } = await answers(coordinator, 'create_thread'));
    // Whoever makes a thread takes part in it.
    const { participants } = await answers(executioner, 'get_thread', ['participants']);
    expect(participants).toEqual(['coordinator_agent', 'executioner_agent', 'reviewer_agent']);
    for (let seq = 1; seq <= 26; seq++) await coordinator.say(thread_id, `message ${seq}`);
    const posted = await answers(reviewer, 'post_message');
    expect(await answers(reviewer, 'post_message')).toEqual(posted);
    const { messages } = await answers(executioner, 'read_messages', ['messages']);
    expect(messages.map(({ seq }) => seq)).toEqual([22, 23, 24, 25, 26, 27]);
    const [documented] = (JSON.parse(OUTPUTS.read_messages) as { messages: unknown[] }).messages;
    expect(form(messages.at(-1))).toMatchObject(form(documented) as Record<string, unknown>);
    expect(messages.at(-1)).toMatchObject(input('post_message'));
    await answers(executioner, 'ack_read');
    const { open_items } = await answers(executioner, 'summarize_thread', ['open_items', 'last_status']);
    expect(open_items).toHaveLength(1);
    const metadata = { event_type: 'finding_verified', finding_id: posted.message_id };
    await reviewer.say(thread_id, 'it holds', { kind: 'event', metadata });
    await answers(reviewer, 'update_thread_status');
    await answers(executioner, 'summarize_thread');
    await answers(reviewer, 'heartbeat_session');
    const stranger = scene.as('stranger', { face, workspace });
    const post = {
      ...(input('post_message') as object),
      sender_agent_id: 'stranger',
      sender_session_id: 'stranger-1',
    };
    const error = await stranger.refused('post_message', post, 'FORBIDDEN');
    expect(form({ error })).toMatchObject(form(JSON.parse(REFUSAL)) as Record<string, unknown>);

    // A person types where the reviewer runs, and an earlier session of it could be resumed.
    const earlier = { runtime: 'codex_cli', resumable: true, native_session_id: RESUMABLE };
    await scene.as('reviewer_agent', { face, workspace }).ok('heartbeat_session', earlier);
    const supervisor = await openSupervisor(scene.hub.url, reviewer.token, 0);
    onTestFinished(() => supervisor.close());
    // What would be run is told when it is.
    await answers(coordinator, 'trigger_participant', ['runtime_command']);
    // Nothing waits for the reviewer in the next thread.
    await reviewer.ok('ack_read', { thread_id, last_read_seq: 27 });
  });
});
