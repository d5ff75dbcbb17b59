/** An agent that may not push by itself, and the person it asks: node --import tsx examples/approval.ts */
import { deepEqual, equal } from 'node:assert/strict';

import { startHub } from './hub/start-hub.ts';

const hub = await startHub();
const agent = await hub.join('executioner');
const person = await hub.join('ann', 'operator');

// The agent puts the exact command before a person and waits; what nobody answers in time is denied.
const { ask: raised } = await agent.raise_ask({
  kind: 'approval',
  prompt: 'The review is done. May I push?',
  command: 'git push origin feature/profile-mapper',
  cwd: '~/src/mobile',
  risk: 'high',
  options: [
    { id: 'once', label: 'Approve once', kind: 'allow_once' },
    { id: 'no', label: 'Deny', kind: 'deny' },
  ],
});
const waiting = agent.wait_for_ask({ ask_id: raised.ask_id });

// The person sees what waits, from whichever device, and answers.
const { agents } = await person.list_agents({ state: 'needs_you' });
deepEqual(
  agents.map(({ agent_id, reason }) => [agent_id, reason]),
  [['executioner', 'asks to run: git push origin feature/profile-mapper']],
);
const { asks } = await person.list_asks();
for (const { ask_id, agent_id, command, options = [] } of asks) {
  process.stdout.write(
    `${agent_id} asks to run: ${command}  [${options.map(({ label }) => label).join('] [')}]\n`,
  );
  await person.answer_ask({ ask_id, decision: 'approved', option: 'once', scope: 'once' });
}

// A second answer changes nothing: it is told the verdict that stands.
const late = await person
  .answer_ask({ ask_id: raised.ask_id, decision: 'denied' })
  .catch((error: unknown) => error);
equal((late as { code?: string }).code, 'CONFLICT');

const { ask } = await waiting;
deepEqual([ask.status, ask.verdict?.decision, ask.verdict?.by], ['resolved', 'approved', 'ann']);

// All of it stands in the log.
const { messages } = await agent.read_messages({ thread_id: ask.thread_id });
for (const { seq, sender_agent_id, body } of messages)
  process.stdout.write(`#${seq}  ${sender_agent_id}  ${body}\n`);
deepEqual(
  messages.map(({ metadata }) => metadata?.['event_type']),
  ['ask_raised', 'ask_answered', 'ask_resolved'],
);
await hub.stop();
