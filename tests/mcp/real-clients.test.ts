import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { AgentRun, AgentTask, McpServer, ToolCall } from '../agents/agent-run.ts';
import { runClaude } from '../agents/run-claude.ts';
import { runCodex } from '../agents/run-codex.ts';
import { freshFolder, type HubProcess, PARLEY, startHub } from '../harness/start-hub.ts';
import { issueToken } from '../harness/tokens.ts';
import { describeWith } from '../tools/describe-with.ts';

const BODY = 'review please: a<b> \u001B[31m \u202Ereversed';

const ofFirst = (field: string, more: Record<string, unknown> = {}): ToolCall['arguments'] => {
  return ([first]) => ({ [field]: first?.structured?.[field], ...more });
};
const calls: ToolCall[] = [
  { tool: 'create_thread', arguments: { title: 'plan', participants: ['bob'] } },
  { tool: 'post_message', arguments: ofFirst('thread_id', { schema_version: 1, body: BODY }) },
  { tool: 'read_messages', arguments: ofFirst('thread_id') },
  { tool: 'ack_read', arguments: ofFirst('thread_id', { last_read_seq: 1 }) },
  { tool: 'post_message', arguments: { thread_id: 'th_none', schema_version: 1, body: 'x' } },
];

describeWith(['claude', 'codex', 'codex-0153'], 'the real clients', () => {
  let hub: HubProcess;
  let token = '';
  beforeAll(async () => {
    hub = await startHub();
    ({ token } = await issueToken({ agent: 'alice' }, { data: hub.data }));
  });
  afterAll(async () => {
    expect(await hub.stop()).toBe(0);
  });

  const clients: [string, (task: AgentTask) => Promise<AgentRun>][] = [
    ['Claude Code', runClaude],
    ['Codex', (task) => runCodex('codex', task)],
    ['Codex 0.153', (task) => runCodex('codex-0153', task)],
    ['Codex on 2026-07-28', (task) => runCodex('codex', { ...task, features: { mcp_2026_07_28: true } })],
  ];

  describe.each(clients)('%s', (_name, run) => {
    test.each(['http', 'stdio'])(
      'creates, posts, reads and acknowledges over %s',
      { timeout: 90_000 },
      async (kind) => {
        const server: McpServer =
          kind === 'http'
            ? { kind, url: `${hub.url}/mcp`, token }
            : { kind: 'stdio', command: process.execPath, args: [PARLEY, 'mcp', '--data', freshFolder()] };
        const { results, exitCode, leftBehind, stderr } = await run({ server, calls });
        expect({ exitCode, leftBehind }, stderr).toEqual({ exitCode: 0, leftBehind: [] });
        expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false, true]);
        expect(results[2]?.structured).toMatchObject({ messages: [{ seq: 1, body: BODY }], has_more: false });
        expect(results[3]?.structured).toMatchObject({ ok: true });
        expect(results[4]?.text).toContain('NOT_FOUND');
      },
    );
  });
});
