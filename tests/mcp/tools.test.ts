import { CONTRACTS, type Contract } from '@parley/protocol';
import { expect, test } from 'vitest';

import { modern, openLegacy } from '../harness/mcp-wire.ts';
import { startHub } from '../harness/start-hub.ts';
import { issueToken } from '../harness/tokens.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();

interface ListedTool {
  name: string;
  title: string;
  description: string;
  inputSchema: Record<string, unknown>;
  annotations: Record<string, boolean>;
}

async function listed(url: string, token: string): Promise<{ text: string; tools: ListedTool[] }> {
  const { text, answer } = await modern(url, token, 'tools/list', {}, { id: 1 });
  return { text, tools: answer?.result?.['tools'] as ListedTool[] };
}

/** Read the diff when this changes: it is what every agent sees and pays for. */
const ESSENTIAL = [
  'ack_read',
  'ask_human',
  'create_thread',
  'get_thread',
  'heartbeat_session',
  'list_threads',
  'post_message',
  'read_messages',
  'summarize_thread',
  'trigger_participant',
  'update_thread_status',
  'wait_for_messages',
  'whoami',
];
const FURTHER = Object.keys(CONTRACTS).filter((name) => !ESSENTIAL.includes(name));

test('[C-MCP-09] tools/list: the same bytes for every caller and after a restart, sorted', async () => {
  const first = scene.as('alice', { role: 'operator' });
  const mark = 'user-text-in-a-title-or-a-name';
  await first.say(await first.thread(mark), mark);
  const { text, tools } = await listed(scene.hub.url, first.token);
  for (const other of [scene.as('bob'), scene.as('carol', { workspace: 'w2', role: 'observer' })])
    expect((await listed(scene.hub.url, other.token)).text).toBe(text);
  const session = await openLegacy(scene.hub.url, first.token);
  const { answer } = await session.request('tools/list');
  expect(JSON.stringify(answer?.result?.['tools'])).toBe(JSON.stringify(tools));
  expect(tools.map(({ name }) => name)).toEqual(ESSENTIAL);
  expect(text).not.toContain(mark);

  const again = await startHub();
  const { token } = await issueToken({ agent: 'dave' }, { data: again.data });
  expect((await listed(again.url, token)).text).toBe(text);
  await again.stop();
  const restarted = await startHub({ data: again.data });
  expect((await listed(restarted.url, token)).text).toBe(text);
  await restarted.stop();
});

test('[C-MCP-09] what a tool says of itself stands in its contract and nowhere else', async () => {
  const { tools } = await listed(scene.hub.url, scene.as('alice').token);
  for (const { name, title, description, annotations } of tools) {
    const contract = CONTRACTS[name as keyof typeof CONTRACTS] as Contract;
    expect({ title, description, annotations }).toEqual({
      title: contract.title,
      description: contract.description,
      annotations: contract.annotations,
    });
  }
});

test('the tool list costs an agent at most 8,192 bytes', async () => {
  const { tools } = await listed(scene.hub.url, scene.as('alice').token);
  expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThanOrEqual(8_192);
});

test('schemas are plain objects without noise, and say what the gate will ask for', async () => {
  const { tools } = await listed(scene.hub.url, scene.as('alice').token);
  for (const { name, inputSchema } of tools) {
    expect(inputSchema['type']).toBe('object');
    const text = JSON.stringify(inputSchema);
    expect([name, text.match(/\$schema|\$ref|9007199254740991|propertyNames|pattern/)]).toEqual([name, null]);
    const required = (inputSchema['required'] ?? []) as string[];
    for (const field of required) expect(Object.keys(inputSchema['properties'] as object)).toContain(field);
    const { success } = CONTRACTS[name as keyof typeof CONTRACTS].input.safeParse({});
    expect([name, success]).toEqual([name, required.length === 0]);
  }
});

test('the profile full lists every operation; under either profile every operation can be called', async () => {
  const full = await startHub({ settings: { 'mcp.profile': 'full' } });
  const { token } = await issueToken({ agent: 'alice' }, { data: full.data });
  const { tools } = await listed(full.url, token);
  expect(tools.map(({ name }) => name)).toEqual([...ESSENTIAL, ...FURTHER].toSorted());
  expect(tools.map(({ name }) => name)).toEqual(Object.keys(CONTRACTS).toSorted());
  await full.stop();
  const params = { name: 'list_sessions', arguments: {} };
  const { answer } = await modern(scene.hub.url, scene.as('alice').token, 'tools/call', params);
  expect(answer?.result?.['structuredContent']).toEqual({ sessions: [], next_after: null });
});

test('a client learns how to use the server from its instructions, in both eras', async () => {
  const { token } = scene.as('alice');
  const discovered = await modern(scene.hub.url, token, 'server/discover');
  const { init } = await openLegacy(scene.hub.url, token);
  const instructions = discovered.answer?.result?.['instructions'] as string;
  expect(init.answer?.result?.['instructions']).toBe(instructions);
  for (const word of [
    'list_threads',
    'read_messages',
    'ack_read',
    'post_message',
    'idempotency_key',
    ' to = ',
  ])
    expect(instructions).toContain(word);
  // Whoever follows them needs no tool that is not on its list.
  const named = instructions.match(/[a-z]+(?:_[a-z]+)+/g) ?? [];
  expect(named.filter((word) => FURTHER.includes(word))).toEqual([]);
  expect(Buffer.byteLength(instructions)).toBeLessThan(1_500);
  expect(discovered.answer?.result?.['capabilities']).toEqual({ tools: {}, resources: { subscribe: true } });
});
