import type { Client } from '@parley/client';

import { type Desk, PERSON, type Screen } from './desk.ts';
import type { Spot, View } from './view.ts';

/** A page of one size in one browser, at which the flows are gone through. */
export interface Seat {
  /** What the tests call it, and part of the names of its agents. */
  on: string;
  name: string;
  screen: Screen;
  /** What the hub calls this device. */
  device: RegExp;
  page: () => View | Promise<View>;
}

/** A thread with an agent, both made for one test. */
export async function scene(
  desk: Desk,
  name: string,
): Promise<{ agent: Client; thread_id: string; title: string }> {
  const agent = desk.agent(name);
  const title = `Work of ${name}`;
  await agent.register_agent({ name });
  await agent.heartbeat_session({ runtime: 'codex_cli', status: 'idle' });
  const { thread_id } = await agent.create_thread({ title, participants: [PERSON] });
  return { agent, thread_id, title };
}

/** Has an agent post a message. */
export const say = (agent: Client, thread_id: string, body: string) =>
  agent.post_message({ thread_id, schema_version: 1, body });

/** The card of what an agent asks for. */
export const card = (page: View, agent: string): Spot => page.locator('.ask', { hasText: agent });

/** What was said in a thread, in its order. */
export async function bodies(agent: Client, thread_id: string): Promise<string[]> {
  const { messages } = await agent.read_messages({ thread_id, since_seq: 0, limit: 200 });
  return messages.map(({ body }) => body);
}
