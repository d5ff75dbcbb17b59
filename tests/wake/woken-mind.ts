import type { ToolCall, ToolResult } from '../agents/agent-run.ts';

/** What a woken agent says in the thread. */
export const ANSWER = 'I was woken, and I have read it';

/** The threads of all wakes that a model was shown, in order: the hub's own first lines, wherever the client put them. */
export function wakesIn(request: unknown): string[] {
  const lines = /unread messages in thread (th_\w+) from [^(]*\(wake (wk_\w+),/g;
  const found = [...JSON.stringify(request).matchAll(lines)];
  return [...new Map(found.map(([, thread_id = '', trigger_id]) => [trigger_id, thread_id])).values()];
}

/** What the model of a woken agent does at each wake: read, answer, acknowledge. */
export function callsOfWoken(threads: readonly string[]): ToolCall[] {
  return threads.flatMap((thread_id, wake) => {
    const last = (results: ToolResult[]) =>
      (results[3 * wake]?.structured?.['messages'] as Read[] | undefined)?.at(-1);
    return [
      { tool: 'read_messages', arguments: { thread_id } },
      {
        tool: 'post_message',
        arguments: (results) => ({
          thread_id,
          schema_version: 1,
          body: ANSWER,
          in_reply_to: last(results)?.message_id,
        }),
      },
      { tool: 'ack_read', arguments: (results) => ({ thread_id, last_read_seq: last(results)?.seq }) },
    ] satisfies ToolCall[];
  });
}

interface Read {
  message_id: string;
  seq: number;
}
