import { type Agent, openAgent } from '@parley/client';
import type { InputOf, Message } from '@parley/protocol';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import type { ToolCall, ToolResult } from '../agents/agent-run.ts';
import { useHub } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { connectRuntime, PATIENT } from './reached-scene.ts';
import { journalOf } from './wake-steps.ts';

/** A busy machine is slow; what is waited for comes, or the test is right to fail. */
const PATIENCE = { timeout: 120_000, interval: 250 };

const scene = useHub({ settings: { 'wake.grace_ms': 20 } });

type Line = Pick<InputOf<'post_message'>, 'body' | 'metadata'>;

const said = (body: string): Line => ({ body });
const did = (event_type: string, body: string, more: Record<string, unknown> = {}): Line => ({
  body,
  metadata: { event_type, ...more },
});

const OPENING = 'The mapper is ready for review';
/** What a person says to the author's program; the review itself is between the two. */
const BEGIN = 'please have it reviewed';

/** What each says when it is its turn; nobody is addressed by hand. */
const REVIEWER = [
  did('finding_reported', 'The null fallback is wrong', { finding_id: 'F1', severity: 'high' }),
  said('An empty list is not covered either'),
  said('And what does the cache do then?'),
  did('finding_verified', 'It holds', { finding_id: 'F1' }),
  did('thread_resolved', 'All findings are verified', { reason: 'all_findings_verified' }),
];
const AUTHOR = [
  did('fix_pushed', 'The fallback is a new list now', { finding_id: 'F1', commit: 'abc1234' }),
  said('It is now, with a test'),
  did('re_review_requested', 'The cache is not asked any more; please look again', { finding_id: 'F1' }),
  said('Then we are done'),
];

/** An agent that sleeps until it is woken, reads what its prompt names, and answers what calls it with its next line. */
async function openMind(name: string, runtime: string, lines: Line[]) {
  const shown: Message[] = [];
  const prompts: string[] = [];
  let agent: Agent | undefined;
  async function act(prompt: string): Promise<void> {
    const [, thread_id = '', since = '0'] = /with thread_id (\S+) and since_seq (\d+)/.exec(prompt) ?? [];
    const { client } = agent!;
    const { messages, next_seq } = await client.read_messages({ thread_id, since_seq: Number(since) });
    shown.push(...messages);
    const isCalled = messages.some(({ called }) => called?.includes(name) === true);
    const line = isCalled ? lines.shift() : undefined;
    await client.ack_read({ thread_id, last_read_seq: next_seq });
    if (line !== undefined) await post(agent!, thread_id, line);
  }
  agent = await openAgent({
    url: scene.hub.url,
    token: scene.as(name).token,
    name,
    runtime,
    WebSocket,
    commands: {
      wake({ prompt }) {
        prompts.push(String(prompt));
        void act(String(prompt));
        return { delivered: true, proof: 'runtime_record' };
      },
    },
  });
  onTestFinished(() => agent.close());
  return { agent, shown, prompts };
}

const post = ({ client }: Agent, thread_id: string, line: Line) =>
  client.post_message({
    thread_id,
    schema_version: 1,
    kind: line.metadata === undefined ? 'chat' : 'event',
    ...line,
  });

/** A review that has come to its end: ten messages without an address, one wake for each, and none shown to a model twice. */
async function expectReview(thread_id: string, shownBy: Record<string, () => Pick<Message, MessagePart>[]>) {
  const ann = scene.as('ann', { role: 'operator' });
  const thread = () => ann.ok('get_thread', { thread_id });
  await vi.waitFor(
    async () => expect(await thread()).toMatchObject({ status: 'resolved', disputed: false }),
    PATIENCE,
  );
  // The last message wakes the author once more, who has nothing to add.
  const steps = async (name: string, step: string) =>
    (await journalOf(scene, name)).filter(({ metadata }) => metadata?.['step'] === step);
  const names = Object.keys(shownBy);
  for (const name of names)
    await vi.waitFor(async () => expect(await steps(name, 'delivered')).toHaveLength(5), PATIENCE);
  const { messages } = await ann.ok('read_messages', { thread_id });
  const spoken = messages.filter(({ kind }) => kind !== 'system');
  expect(spoken).toHaveLength(10);
  expect(spoken.every(({ to, body }) => to === undefined && !body.includes('@'))).toBe(true);
  const other = (name: string) => names.find((one) => one !== name);
  expect(spoken.map(({ called }) => called)).toEqual(
    spoken.map(({ sender_agent_id }) => [other(sender_agent_id)]),
  );
  for (const [name, shown] of Object.entries(shownBy)) {
    const ids = () =>
      shown()
        .filter(({ sender_agent_id }) => sender_agent_id === other(name))
        .map(({ message_id }) => message_id);
    const meant = spoken.filter(({ called }) => called?.includes(name)).map(({ message_id }) => message_id);
    await vi.waitFor(() => expect(ids()).toEqual(expect.arrayContaining(meant)), PATIENCE);
    expect(ids()).toEqual([...new Set(ids())]);
    expect(await steps(name, 'asked')).toHaveLength(5);
    expect(await steps(name, 'skipped')).toEqual([]);
  }
  for (const { message_id, called } of spoken) {
    const { woken, not_woken } = await ann.ok('get_message_evidence', { thread_id, message_id });
    expect(woken).toMatchObject([{ agent_id: called?.[0], result: 'delivered', door: 'command' }]);
    expect(not_woken).toEqual([]);
  }
}

type MessagePart = 'message_id' | 'sender_agent_id';

test('[HUB-R1] [HUB-W1] two agents hold a review over ten messages, without a person and without an address', async () => {
  const reviewer = await openMind('reviewer', 'claude_code', [...REVIEWER]);
  const author = await openMind('author', 'codex_cli', [...AUTHOR]);
  const { thread_id } = await author.agent.client.create_thread({
    title: 'Profile mapper',
    type: 'workflow',
    participants: ['reviewer'],
  });
  await post(author.agent, thread_id, said(OPENING));
  await vi.waitFor(() => expect(author.prompts).toHaveLength(5), PATIENCE);
  await expectReview(thread_id, { reviewer: () => reviewer.shown, author: () => author.shown });
  expect([reviewer.prompts.length, author.prompts.length]).toEqual([5, 5]);
});

/** A model that begins when it is told to, and at each wake reads, acknowledges, and says its next line. */
function mindOf(lines: Line[], begin: ToolCall[]) {
  const shown = new Map<string, ToolResult>();
  const keep = (results: ToolResult[]): void =>
    results.forEach((result, i) => result.tool === 'read_messages' && shown.set(`${i}`, result));
  const mind = (text: string): ToolCall[] => {
    const calls = text.includes(BEGIN) ? [...begin] : [];
    const wakes = [...text.matchAll(/with thread_id (th_\w+) and since_seq (\d+), act/g)];
    for (const [i, [, thread_id = '', since]] of wakes.entries()) {
      const at = calls.length;
      const line = lines[i];
      calls.push(
        { tool: 'read_messages', arguments: { thread_id, since_seq: Number(since) } },
        {
          tool: 'ack_read',
          arguments(results) {
            keep(results);
            return { thread_id, last_read_seq: results[at]?.structured?.['next_seq'] };
          },
        },
      );
      const kind = line?.metadata === undefined ? 'chat' : 'event';
      if (line !== undefined)
        calls.push({ tool: 'post_message', arguments: { thread_id, schema_version: 1, kind, ...line } });
    }
    return calls;
  };
  const read = () =>
    [...shown.values()].flatMap(
      ({ structured }) => (structured?.['messages'] ?? []) as Pick<Message, MessagePart>[],
    );
  return { mind, read };
}

describeWith(['codex', 'claude'], 'a real Codex and a real Claude Code', () => {
  test(
    '[HUB-R1] [HUB-W1] [HUB-M9] hold the same review, each connected with parley init and nothing else',
    { timeout: 300_000 },
    async () => {
      const begin: ToolCall[] = [
        {
          tool: 'create_thread',
          arguments: { title: 'Profile mapper', type: 'workflow', participants: ['claude'] },
        },
        {
          tool: 'post_message',
          arguments: ([created]) => ({
            thread_id: created?.structured?.['thread_id'],
            schema_version: 1,
            body: OPENING,
          }),
        },
      ];
      const minds = { claude: mindOf(REVIEWER, []), codex: mindOf(AUTHOR, begin) };
      const programs = {
        codex: await connectRuntime('codex', scene.hub.data, { mind: minds.codex.mind, workspace: 'w1' }),
        claude: await connectRuntime('claude', scene.hub.data, { mind: minds.claude.mind, workspace: 'w1' }),
      };
      const ann = scene.as('ann', { role: 'operator' });
      const reach = async (of_agent: string) => (await ann.ok('check_reach', { of_agent })).reachable;
      const people = [];
      for (const name of ['claude', 'codex'] as const) {
        const person = await programs[name].open();
        await person.sees(programs[name].prompt);
        await expect.poll(() => reach(name).catch(() => 'no'), PATIENT).toBe('now');
        people.push(person);
      }
      people[1]?.type(BEGIN);
      await people[1]?.sees(BEGIN);
      people[1]?.type('\r');
      const find = async () =>
        (await ann.ok('list_threads', {})).threads.find(({ participants }) => participants.includes('codex'));
      await expect.poll(find, PATIENT).toBeDefined();
      const { thread_id = '' } = (await find()) ?? {};
      await expectReview(thread_id, { claude: minds.claude.read, codex: minds.codex.read });
      expect([programs.claude.wakes(thread_id), programs.codex.wakes(thread_id)]).toEqual([5, 5]);
    },
  );
});
