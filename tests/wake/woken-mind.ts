import type { ToolCall, ToolResult } from '../agents/agent-run.ts';

/** What a woken agent says in the thread. */
export const ANSWER = 'I was woken, and I have read it';

/** The last wake that a model was shown: the hub's own first line, wherever the client put it. */
export function wakeIn(request: unknown): { thread_id: string; trigger_id: string } | undefined {
  const found = [
    ...JSON.stringify(request).matchAll(/unread messages in thread (th_\w+) from [^(]*\(wake (wk_\w+),/g),
  ];
  const [, thread_id, trigger_id] = found.at(-1) ?? [];
  return thread_id === undefined || trigger_id === undefined ? undefined : { thread_id, trigger_id };
}

/** What the model of a woken agent does: read, answer, acknowledge. */
export function callsOfWoken(thread_id: string): ToolCall[] {
  const last = ([page]: ToolResult[]): { message_id: string; seq: number } | undefined =>
    (page?.structured?.['messages'] as { message_id: string; seq: number }[] | undefined)?.at(-1);
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
  ];
}
