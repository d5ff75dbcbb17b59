import { Agent } from 'node:http';

import { expect, test } from 'vitest';

import { modern, openLegacy, type RpcReply } from '../harness/mcp-wire.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';
import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';

const { pairs: PAIRS } = sizeOf('C-MCP-05');
const scene = useHub({ settings: { 'quota.messages_burst': 10_000 } });

/** A thread of one's own with as many messages as there will be questions. */
async function filled(who: Participant): Promise<{ thread_id: string; ids: string[] }> {
  const thread_id = await who.thread();
  const posts = Array.from({ length: PAIRS }, (_, i) => who.say(thread_id, `${who.agent_id} ${i}`));
  const ids = (await Promise.all(posts)).toSorted((a, b) => a.seq - b.seq).map((post) => post.message_id);
  return { thread_id, ids };
}

type Ask = (id: number, params: Record<string, unknown>) => Promise<RpcReply>;

test('[C-MCP-05] [R12] two clients with the same ids, many pairs at once, in both eras: no answer crosses', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 48 });
  const clients = await Promise.all(
    ['alice', 'bob'].map(async (name) => {
      const who = scene.as(name);
      const session = await openLegacy(scene.hub.url, who.token);
      const eras: Ask[] = [
        (id, params) => modern(scene.hub.url, who.token, 'tools/call', params, { id, agent }),
        (id, params) => session.request('tools/call', params, { id, agent }),
      ];
      return { name, eras, ...(await filled(who)) };
    }),
  );
  for (const era of [0, 1]) {
    const asked = Array.from({ length: PAIRS }, (_, i) =>
      clients.map(async ({ name, eras, thread_id, ids }) => {
        const params = { name: 'get_message', arguments: { thread_id, message_id: ids[i] } };
        const reply = await eras[era]?.(i, params);
        const { message } = (reply?.answer?.result?.['structuredContent'] ?? {}) as {
          message?: { message_id: string; sender_agent_id: string };
        };
        return (
          reply?.messages.length === 1 &&
          reply.answer?.id === i &&
          message?.message_id === ids[i] &&
          message?.sender_agent_id === name
        );
      }),
    ).flat();
    const right = await Promise.all(asked);
    expect(right.filter((isRight) => !isRight)).toHaveLength(0);
    expect(right).toHaveLength(PAIRS * 2);
  }
  measured('C-MCP-05', 'pairs in each era', `${PAIRS}`);
  agent.destroy();
});
