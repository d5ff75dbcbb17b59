import { setTimeout as pause } from 'node:timers/promises';

import type { Client } from '@parley/client';
import type { Message, OutputOf } from '@parley/protocol';

import { type AgentName, AGENTS, HALF_WAY, TITLE, type Turn, TURNS } from './demo-script.ts';

export interface Played {
  thread_id: string;
  status: string;
  summary: string;
  open_items: OutputOf<'summarize_thread'>['open_items'];
  messages: Message[];
  receipts: { seq: number; read_by: string[]; unread_by: string[] }[];
}

export interface PlayOptions {
  /** Who else takes part, without a word. */
  watchers: readonly string[];
  pauseMs: number;
  onMessage: (message: Message) => void;
  onHalfWay: (openItems: number) => void;
}

/** Plays the review through the hub; what is shown comes from its live stream, not from the script. */
export async function play(clients: Record<AgentName, Client>, options: PlayOptions): Promise<Played> {
  const { coordinator_agent: coordinator } = clients;
  const { thread_id } = await coordinator.create_thread({
    title: TITLE,
    type: 'workflow',
    participants: [...Object.keys(AGENTS), ...options.watchers],
  });
  const messages: Message[] = [];
  const stream = coordinator.follow(thread_id);
  const showUpTo = async (seq: number): Promise<void> => {
    while (messages.length < seq) {
      const { value, done } = await stream.next();
      if (done === true) return;
      messages.push(value);
      options.onMessage(value);
    }
  };
  const posted: OutputOf<'post_message'>[] = [];
  for (const [index, turn] of TURNS.entries()) {
    await pause(options.pauseMs);
    const answered = turn.answers === undefined ? undefined : posted[turn.answers];
    const answer = await takeTurn(clients[turn.by], thread_id, turn, answered?.message_id, messages.length);
    posted.push(answer);
    await showUpTo(answer.seq);
    if (index === HALF_WAY)
      options.onHalfWay((await coordinator.summarize_thread({ thread_id })).open_items.length);
  }
  const { status, last_seq } = await coordinator.get_thread({ thread_id });
  await showUpTo(last_seq);
  await stream.return();
  const { summary, open_items } = await coordinator.summarize_thread({ thread_id });
  return {
    thread_id,
    status,
    summary,
    open_items,
    messages,
    receipts: await receipts(coordinator, thread_id, messages),
  };
}

async function takeTurn(
  client: Client,
  thread_id: string,
  turn: Turn,
  in_reply_to: string | undefined,
  seen: number,
) {
  await client.heartbeat_session({ runtime: 'parley_demo', status: 'active' });
  if (seen > 0) await client.ack_read({ thread_id, last_read_seq: seen });
  return client.post_message({
    thread_id,
    schema_version: 1,
    kind: turn.event === undefined ? 'chat' : 'event',
    body: turn.body,
    ...(turn.event === undefined ? {} : { metadata: { event_type: turn.event, ...turn.metadata } }),
    ...(in_reply_to === undefined ? {} : { in_reply_to }),
  });
}

async function receipts(client: Client, thread_id: string, messages: readonly Message[]) {
  const said = messages.filter((message) => message.kind !== 'system');
  const chosen = [said[1], said.at(-1)].filter((message) => message !== undefined);
  return Promise.all(
    chosen.map(async ({ seq, message_id }) => {
      const { read_by, unread_by } = await client.get_message({ thread_id, message_id });
      return { seq, read_by: read_by.map((one) => one.agent_id), unread_by };
    }),
  );
}
