/** An agent in a few lines: it takes commands, says what it is at, and asks: node --import tsx examples/agent.ts */
import { deepEqual } from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { openAgent } from '@parley/client';
import { WebSocket } from 'ws';

import { startHub } from './hub/start-hub.ts';

const hub = await startHub();
const changes = new EventEmitter();

const agent = await openAgent({
  url: hub.url,
  token: await hub.token('builder'),
  name: 'The builder',
  WebSocket,
  commands: {
    async run_task({ taskId }) {
      await agent.status('busy', { currentTask: String(taskId) });
      const { decision } = await agent.ask({
        kind: 'approval',
        prompt: 'May I?',
        command: `make ${String(taskId)}`,
      });
      await agent.event(decision === 'approved' ? 'task_completed' : 'task_failed', { taskId });
      await agent.status('online');
      return { taskId, decision };
    },
  },
  onConnection: (state) => changes.emit(state),
});
await once(changes, 'open');

// A person commands it, is asked in turn, and gets the result.
const person = await hub.join('ann', 'operator');
const commanding = person.command_agent({
  of_agent: 'builder',
  command: 'run_task',
  parameters: { taskId: 'T1' },
});
for (;;) {
  const [ask] = (await person.list_asks()).asks;
  if (ask === undefined) {
    await sleep(50);
    continue;
  }
  process.stdout.write(`${ask.agent_id}: ${ask.prompt} ${ask.command}\n`);
  await person.answer_ask({ ask_id: ask.ask_id, decision: 'approved' });
  break;
}
const { success, result } = await commanding;
process.stdout.write(`${JSON.stringify(result)}\n`);
deepEqual([success, result], [true, { taskId: 'T1', decision: 'approved' }]);

const { state, last_event } = await person.get_agent({ of_agent: 'builder' });
deepEqual([state, last_event?.event_type], ['idle', 'task_completed']);
await agent.close();
await hub.stop();
