import { type Message, ParleyError, seqOfMessageId } from '@parley/protocol';
import type { Client } from '@parley/client';
import type { Command } from 'commander';

import { addConnectOptions, connect } from './connect.ts';
import { localTime, messageLines } from './message-lines.ts';
import { print } from './output.ts';
import { painter } from './style.ts';

/** `parley why`: what became of a message, as far as the hub has evidence of it. */
export function addWhyCommand(program: Command): void {
  addConnectOptions(program.command('why <thread> <message>'))
    .description('what became of a message: who has read it, who has not, what answers it')
    .addHelpText(
      'after',
      '\nThe message is its id, or its seq in the thread.\n\nExample:\n  parley why th_01… 3',
    )
    .action(async (thread_id: string, message: string, _options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      const message_id = /^#?\d+$/.test(message) ? await idAt(client, thread_id, message) : message;
      const told = await client.get_message({ thread_id, message_id });
      const paint = painter(command);
      print({ json }, told, () => [
        ...messageLines(told.message, paint),
        `  ${paint('green', 'durable')}  since ${localTime(told.message.created_at)}, on disk before it was acknowledged`,
        ...told.read_by.map(
          (one) => `  ${paint('green', 'read')}     by ${one.agent_id} (cursor of ${localTime(one.at)})`,
        ),
        ...told.unread_by.map((name) => `  ${paint('yellow', 'unread')}   by ${name}`),
        ...told.referenced_by.map((id) => `  answered by #${seqOfMessageId(id) ?? '?'}  ${id}`),
      ]);
    });
}

async function idAt(client: Client, thread_id: string, text: string): Promise<string> {
  const seq = Number(text.replace('#', ''));
  const { messages } = await client.read_messages({ thread_id, since_seq: Math.max(0, seq - 1), limit: 1 });
  const found: Message | undefined = messages[0];
  if (found?.seq !== seq) throw new ParleyError('NOT_FOUND', `the thread has no message #${seq}`);
  return found.message_id;
}
