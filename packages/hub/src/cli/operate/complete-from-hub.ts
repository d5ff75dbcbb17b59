import { LIMITS } from '@parley/protocol';
import type { Command } from 'commander';

import { connect } from '../connect.ts';
import { oneLine } from '../harmless.ts';
import { shortId } from '../short-ids.ts';

/** A person who waits in the midst of a line waits no longer. */
const PATIENCE_MS = 500;

/** The threads, agents or asks that an argument of this name could be, each with what it is about. */
export async function namesOf(name: string, asked: Command): Promise<[string, string][]> {
  if (!['thread', 'agent', 'agents', 'as', 'with', 'to', 'ask'].includes(name)) return [];
  const { client } = await connect(asked, PATIENCE_MS);
  const limit = LIMITS.page_max;
  if (name === 'thread') {
    const { threads } = await client.list_threads({ limit });
    return threads.map(({ thread_id, title }) => [shortId(thread_id), oneLine(title)]);
  }
  if (name === 'ask') {
    const { asks } = await client.list_asks({ status: 'open', limit });
    return asks.map((one) => [
      one.ask_id.slice(-6),
      oneLine(`${one.agent_id}: ${one.command ?? one.prompt}`),
    ]);
  }
  const { agents } = await client.list_agents({ limit });
  return agents.map(({ agent_id, state }) => [agent_id, state.replace('_', ' ')]);
}
