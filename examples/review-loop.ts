/** A review between two agents, from the first finding to the resolved thread: node --import tsx examples/review-loop.ts */
import { deepEqual, equal } from 'node:assert/strict';

import { startHub } from './hub/start-hub.ts';

const hub = await startHub();
const coordinator = await hub.join('coordinator_agent', 'orchestrator');
const executioner = await hub.join('executioner_agent');
const reviewer = await hub.join('reviewer_agent');

const { thread_id } = await coordinator.create_thread({
  title: 'Profile mapper review loop',
  type: 'workflow',
  participants: ['executioner_agent', 'reviewer_agent'],
});
const report = (event_type: string, facts: object = {}) => ({
  thread_id,
  schema_version: 1 as const,
  kind: 'event' as const,
  metadata: { event_type, task_id: 'TASK-219', ...facts },
});

// The executioner sleeps until there is mail, fixes what was found and asks for another look.
const working = executioner.wait_for_messages({ thread_id }).then(async ({ messages, next_seq }) => {
  await executioner.ack_read({ thread_id, last_read_seq: next_seq });
  equal(messages[0]?.metadata?.['severity'], 'high');
  await executioner.post_message({ ...report('fix_pushed', { commit: 'abc1234' }), body: 'Fixed.' });
  await executioner.post_message({ ...report('re_review_requested'), body: 'Please look again.' });
});

// A retry with the same key is the same message, whatever happened to the first answer.
const finding = { ...report('finding_reported', { severity: 'high', file: 'user_mapper.dart', line: 42 }) };
const once = await reviewer.post_message({ ...finding, body: 'Null fallback', idempotency_key: 'rv-219-1' });
const twice = await reviewer.post_message({ ...finding, body: 'Null fallback', idempotency_key: 'rv-219-1' });
deepEqual(twice, once);
await working;

const { open_items } = await coordinator.summarize_thread({ thread_id });
deepEqual(
  open_items.map(({ kind }) => kind),
  ['finding', 'request'],
);

await reviewer.post_message({
  ...report('finding_verified'),
  body: 'Verified.',
  in_reply_to: once.message_id,
});
await coordinator.post_message({ ...report('thread_resolved'), body: 'All findings verified.' });

for await (const { seq, sender_agent_id, metadata, body } of coordinator.follow(thread_id)) {
  process.stdout.write(`#${seq}  ${sender_agent_id}  ${String(metadata?.['event_type'])}  ${body}\n`);
  if (metadata?.['event_type'] === 'thread_status_changed') break;
}
const { summary, open_items: left, last_status } = await coordinator.summarize_thread({ thread_id });
process.stdout.write(`${summary}\n`);
deepEqual([left, last_status], [[], 'resolved']);
await hub.stop();
