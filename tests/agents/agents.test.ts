import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { useHub } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import type { AgentRun, AgentTask, McpServer, ToolCall, ToolResult } from './agent-run.ts';
import { runClaude } from './run-claude.ts';
import { runCodex } from './run-codex.ts';

const BIN = fileURLToPath(new URL('../../packages/hub/bin/parley.mjs', import.meta.url));

const CLIENTS: [name: string, run: (task: AgentTask) => Promise<AgentRun>][] = [
  ['Claude Code', runClaude],
  ['Codex 0.153.4', (task) => runCodex('codex-0153', task)],
  ['the newest Codex', (task) => runCodex('codex', task)],
  [
    'the newest Codex on MCP 2026-07-28',
    (task) => runCodex('codex', { ...task, features: { mcp_2026_07_28: true } }),
  ],
];

const field = (result: ToolResult | undefined, name: string): unknown => result?.structured?.[name];

/** Creates a thread, says something in it and reads it back, as one agent's turn. */
function conversation(body: string, participants: string[]): ToolCall[] {
  return [
    { tool: 'create_thread', arguments: { title: 'from a real client', participants } },
    {
      tool: 'post_message',
      arguments: ([thread]) => ({ thread_id: field(thread, 'thread_id'), schema_version: 1, body }),
    },
    { tool: 'read_messages', arguments: ([thread]) => ({ thread_id: field(thread, 'thread_id') }) },
  ];
}

describeWith(['claude', 'codex', 'codex-0153'], 'real clients talk through the hub', () => {
  const scene = useHub();

  function server(kind: McpServer['kind'], agent: string): McpServer {
    const { hub } = scene;
    if (kind === 'http') return { kind, url: `${hub.url}/mcp`, token: scene.as(agent).token };
    const args = [BIN, 'mcp', '--data', hub.data, '--agent', agent, '--workspace', 'w1'];
    return { kind, command: process.execPath, args };
  }

  const hidden = 'zero\u200b joiner\u2060 hyphen\u00ad tag\u{e0041} look\ufe01 times\u2062 mark\u200f';

  for (const [name, run] of CLIENTS) {
    for (const kind of ['stdio', 'http'] as const) {
      test(
        `[HUB-M1] [HUB-M3] [HUB-M4] ${name} over ${kind} creates, posts and reads, and nothing hidden in a message reaches its model`,
        { timeout: 120_000 },
        async () => {
          const peer = scene.as('peer');
          const hiding = await peer.thread('author');
          await peer.say(hiding, `${hidden} and 👩‍💻 ❤️`);
          const task = {
            server: server(kind, 'author'),
            calls: [
              ...conversation(`hello over ${kind}`, ['reader']),
              { tool: 'read_messages', arguments: { thread_id: hiding } },
            ],
          };
          const { results, modelRequests, exitCode, stderr, leftBehind } = await run(task);
          expect({ exitCode, leftBehind }, stderr).toEqual({ exitCode: 0, leftBehind: [] });
          expect(results.map(({ tool, isError }) => [tool, isError])).toEqual([
            ['create_thread', false],
            ['post_message', false],
            ['read_messages', false],
            ['read_messages', false],
          ]);
          const { messages } = await scene
            .as('reader')
            .ok('read_messages', { thread_id: String(field(results[0], 'thread_id')) });
          expect(messages).toEqual([
            expect.objectContaining({ seq: 1, sender_agent_id: 'author', body: `hello over ${kind}` }),
          ]);
          const [message] = field(results[3], 'messages') as { body: string }[];
          expect(message?.body).toBe(`${hidden} and 👩‍💻 ❤️`);
          const seen = JSON.stringify(modelRequests);
          const isShown = seen.includes('u200b') && seen.includes('👩‍💻 ❤️');
          expect([isShown, /[\ufe01\u200b\u2060\u00ad\u{e0041}\u2062\u200f]/u.exec(seen)?.[0]]).toEqual([
            true,
            undefined,
          ]);
        },
      );
    }
  }

  test(
    '[HUB-A3] Claude Code and Codex exchange messages, each under its own identity',
    { timeout: 180_000 },
    async () => {
      const asked = await runClaude({
        server: server('stdio', 'claude'),
        calls: conversation('can you review this?', ['codex']),
      });
      const thread_id = String(field(asked.results[0], 'thread_id'));
      const answered = await runCodex('codex', {
        server: server('http', 'codex'),
        calls: [
          { tool: 'read_messages', arguments: { thread_id } },
          {
            tool: 'post_message',
            arguments: ([page]) => ({
              thread_id,
              schema_version: 1,
              body: 'yes, reviewed',
              in_reply_to: (field(page, 'messages') as { message_id: string }[])[0]?.message_id,
            }),
          },
          { tool: 'ack_read', arguments: { thread_id, last_read_seq: 2 } },
        ],
      });
      expect(
        answered.results.map(({ isError }) => isError),
        answered.stderr,
      ).toEqual([false, false, false]);
      const heard = await runClaude({
        server: server('http', 'claude'),
        calls: [{ tool: 'wait_for_messages', arguments: { thread_id, since_seq: 1, timeout_ms: 5_000 } }],
      });
      expect(field(heard.results[0], 'messages')).toEqual([
        expect.objectContaining({ seq: 2, sender_agent_id: 'codex', body: 'yes, reviewed' }),
      ]);
      const { messages } = await scene.as('claude').ok('read_messages', { thread_id });
      expect(
        messages.map(({ seq, sender_agent_id, in_reply_to }) => [seq, sender_agent_id, in_reply_to]),
      ).toEqual([
        [1, 'claude', undefined],
        [2, 'codex', messages[0]?.message_id],
      ]);
    },
  );
});
