import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { createClient } from '@parley/client';
import { afterAll, expect, test, vi } from 'vitest';

import { freePort } from '../harness/free-port.ts';
import { freshFolder, type HubProcess, startHub } from '../harness/start-hub.ts';
import { issueToken } from '../harness/tokens.ts';
import { openFaultProxy } from '../nodes/fault-proxy.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = `${root}examples/answering/`;
const running: ChildProcess[] = [];

const ASKED = 7;
const PARTITION_MS = 3_000;

const AGENTS: Record<string, string[]> = {
  'agent.py': ['python3'],
  'agent.ts': [process.execPath, '--import', 'tsx'],
  'agent.sh': ['sh'],
  'agent-ws.mjs': [process.execPath],
  'agent-envelope.py': ['python3'],
};

afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

test('there are five ways, none longer than 30 lines', () => {
  expect(readdirSync(folder).toSorted()).toEqual(Object.keys(AGENTS).toSorted());
  for (const name of Object.keys(AGENTS))
    expect([
      name,
      readFileSync(folder + name, 'utf8')
        .trim()
        .split('\n').length <= 30,
    ]).toEqual([name, true]);
});

test('five small agents answer each message once, through SIGKILL and SIGTERM of the hub, 429, a partition and lost answers', async () => {
  const data = freshFolder();
  const port = await freePort();
  // The agents come this way, which can be shut without anybody being told.
  const way = await openFaultProxy(port);
  // Few writes at once: each agent is told to wait time and again.
  const settings = {
    'quota.messages_burst': 2,
    'quota.messages_per_minute': 120,
    'http.allowed_hosts': JSON.stringify([`127.0.0.1:${way.port}`]),
  };
  const start = (): Promise<HubProcess> =>
    startHub({ data, settings, flags: ['--port', String(port)], readyMs: 60_000 });
  let hub = await start();
  const startAgent = async (name: string): Promise<string> => {
    const agent = name.replace('.', '-');
    const { token } = await issueToken({ agent, role: 'orchestrator' }, { data });
    const [command = '', ...args] = AGENTS[name] ?? [];
    const url = `http://127.0.0.1:${way.port}`;
    const named = { PARLEY_URL: url, PARLEY_TOKEN: token, PARLEY_AGENT: agent, PARLEY_WORKSPACE: 'w1' };
    const env = { PATH: process.env['PATH'] ?? '', ...named };
    running.push(spawn(command, [...args, folder + name], { cwd: root, env, stdio: 'ignore' }));
    return agent;
  };
  const agents = await Promise.all(Object.keys(AGENTS).map(startAgent));
  const { token } = await issueToken({ agent: 'boss', role: 'operator' }, { data });
  const boss = createClient({ url: hub.url, token, patienceMs: 120_000 });
  const threads = await Promise.all(
    agents
      .filter((agent) => !agent.includes('envelope'))
      .map(async (agent) => {
        // Who asks has to wait as well: one for each, so that only those who answer are waited for.
        const who = { agent: `${agent}-asker`, role: 'operator' } as const;
        const own = await issueToken(who, { data });
        const asker = createClient({ url: hub.url, token: own.token, patienceMs: 120_000 });
        const { thread_id } = await asker.create_thread({ title: agent, participants: [agent] });
        return { agent, thread_id, asker };
      }),
  );
  const questions: string[] = [];
  const ask = async (round: number): Promise<void> => {
    for (const { thread_id, asker } of threads)
      await asker.post_message({ thread_id, schema_version: 1, body: `question ${round}` });
    const document_id = randomUUID();
    questions.push(document_id);
    await boss.create_document({
      document_id,
      parent_id: 'root',
      content: { mime_type: 'text/markdown', body: '?' },
      metadata: { title: `Question ${round}`, tags: ['question'] },
    });
  };
  const answers = async (): Promise<Record<string, string[]>> => {
    const found: Record<string, string[]> = {};
    for (const { agent, thread_id } of threads) {
      const { messages } = await boss.read_messages({ thread_id });
      found[agent] = messages.flatMap(({ kind, sender_agent_id, in_reply_to, body }) =>
        kind !== 'system' && sender_agent_id === agent
          ? [`${String(in_reply_to !== undefined)} ${body}`]
          : [],
      );
    }
    found['documents'] = [];
    for (const parent_id of questions)
      found['documents'].push(
        ...(await boss.list_documents({ parent_id })).documents.map(({ metadata }) => metadata.title),
      );
    return found;
  };
  const counts = async (): Promise<Record<string, number>> =>
    Object.fromEntries(Object.entries(await answers()).map(([agent, list]) => [agent, list.length]));
  await ask(1);
  await ask(2);
  await hub.kill();
  hub = await start();
  await ask(3);
  await hub.stop();
  hub = await start();
  await ask(4);
  way.cut(true);
  await ask(5);
  await new Promise((resolve) => setTimeout(resolve, PARTITION_MS));
  for (const [agent, count] of Object.entries(await counts()))
    expect([agent, count <= 4]).toEqual([agent, true]);
  way.cut(false);
  // Written, and the answer lost: that of a post, and that of a document in an envelope.
  for (const word of ['post_message', 'knowledge.create_document']) {
    way.cutAfter(word);
    const before = way.cuts;
    await ask(6 + before);
    await vi.waitFor(() => expect(way.cuts).toBe(before + 1), { timeout: 90_000, interval: 200 });
  }
  const all = Object.fromEntries([
    ...threads.map(({ agent }) => [agent, ASKED] as const),
    ['documents', ASKED],
  ]);
  await vi.waitFor(async () => expect(await counts()).toEqual(all), { timeout: 90_000, interval: 1_000 });
  // Whatever would answer twice has had its time.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  for (const [agent, list] of Object.entries(await answers()))
    expect([agent, list.length, new Set(list).size]).toEqual([
      agent,
      ASKED,
      agent === 'documents' ? 1 : ASKED,
    ]);
  for (const child of running) child.kill('SIGKILL');
  way.close();
  await hub.stop();
}, 300_000);
