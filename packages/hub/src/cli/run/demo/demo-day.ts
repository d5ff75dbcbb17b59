import { keysOf } from '@parley/protocol';
import type { Client } from '@parley/client';

import { writeDocuments } from './demo-documents.ts';

/** The people and agents of the demo's day, and where they work. */
export const DAY_AGENTS = {
  planner: { role: 'orchestrator', runtime: 'claude_code', model: 'claude-opus-4-5', cwd: '~/src/mobile' },
  executioner: { role: 'worker', runtime: 'codex_cli', model: 'gpt-5.2-codex', cwd: '~/src/mobile' },
  reviewer: { role: 'worker', runtime: 'claude_code', model: 'claude-opus-4-5', cwd: '~/src/mobile' },
  atreides: { role: 'worker', runtime: 'claude_code', model: 'claude-sonnet-5', cwd: '~/src/research' },
  sisyphus: { role: 'worker', runtime: 'codex_cli', model: 'gpt-5.2-codex', cwd: '~/src/research' },
  'docs-bot': { role: 'worker', runtime: 'gemini_cli', model: 'gemini-3-pro', cwd: '~/src/site' },
} as const;

export type DayAgent = keyof typeof DAY_AGENTS;

type Clients = Record<DayAgent, Client>;

const FILE = 'lib/features/profile/data/mappers/user_mapper.dart';

/** Fills a workspace with a day's work, so that there is something of everything to look at. */
export async function playDay(clients: Clients, person: string): Promise<void> {
  const names = keysOf(DAY_AGENTS);
  for (const name of names) await arrive(clients[name], name);
  const review = await playReview(clients, person);
  await playIncident(clients, person);
  await playDesign(clients, person);
  await playGuide(clients, person);
  await writeDocuments(clients.planner);
  await raiseAsks(clients, review);
  await settle(clients, review);
}

async function arrive(client: Client, name: DayAgent): Promise<void> {
  const { runtime, model, cwd } = DAY_AGENTS[name];
  await client.register_agent({ name, capabilities: ['run_task', 'status'], metadata: { model, cwd } });
  await client.heartbeat_session({ runtime, status: 'idle', resumable: true });
  await client.update_agent_status({ status: 'online', metadata: { model, cwd } });
}

interface Said {
  thread_id: string;
  say: (by: DayAgent, body: string, event?: Record<string, unknown>) => Promise<string>;
}

async function openThread(
  clients: Clients,
  title: string,
  by: DayAgent,
  participants: string[],
  type = 'workflow',
): Promise<Said> {
  // The day is written in this file's own folder, of known types.
  const { thread_id } = await clients[by].create_thread({ title, type: type as 'workflow', participants });
  return {
    thread_id,
    async say(speaker, body, event) {
      const kind = event === undefined ? 'chat' : 'event';
      const metadata = event === undefined ? {} : { metadata: event };
      const { message_id } = await clients[speaker].post_message({
        thread_id,
        schema_version: 1,
        kind,
        body,
        ...metadata,
      });
      return message_id;
    },
  };
}

async function playReview(clients: Clients, person: string): Promise<string> {
  const task = { task_id: 'TASK-219' };
  const { thread_id, say } = await openThread(clients, 'Profile mapper review loop', 'planner', [
    'planner',
    'executioner',
    'reviewer',
    person,
  ]);
  await say(
    'planner',
    'TASK-219 is ready: the profile mapper no longer reads the old schema. @reviewer, please look at the null handling first.',
  );
  await say('reviewer', 'Blocking: a user without a nickname becomes the text "null".', {
    event_type: 'finding_reported',
    ...task,
    finding_id: 'F1',
    severity: 'high',
    file: FILE,
    line: 42,
  });
  await say('reviewer', 'The avatar URL is not trimmed before it is parsed.', {
    event_type: 'finding_reported',
    ...task,
    finding_id: 'F2',
    severity: 'low',
    file: FILE,
    line: 57,
  });
  await say(
    'executioner',
    'Both are real. I take them now:\n\n- fall back to the display name\n- trim before `Uri.parse`\n\n```dart\nfinal name = dto.nickname ?? dto.displayName;\n```',
  );
  await say('executioner', 'Falls back to the display name; trims the URL. Two tests added.', {
    event_type: 'fix_pushed',
    ...task,
    commit: 'abc1234',
    branch: 'fix/user-mapper',
  });
  await say('executioner', 'Please look again.', {
    event_type: 're_review_requested',
    ...task,
    reviewer: 'reviewer',
    commit: 'abc1234',
  });
  await say('reviewer', 'The fallback is right now.', {
    event_type: 'finding_verified',
    ...task,
    finding_id: 'F1',
    commit: 'abc1234',
  });
  await say(
    'planner',
    '| file | change |\n| --- | --- |\n| user_mapper.dart | +12 −3 |\n| team_mapper.dart | +2 −2 |\n\nThe team mapper has the same fallback. Fixing both here would be cleaner, see [the contract](https://example.com/contract).',
  );
  const { thread_id: side } = await clients.planner.open_side_channel({
    thread_id,
    title: 'Is the schema error worth a code?',
    purpose: 'settle how a missing field is told from an empty one',
    participants: ['planner', 'reviewer'],
  });
  await clients.reviewer.post_message({
    thread_id: side,
    schema_version: 1,
    body: 'The caller cannot tell *missing* from *empty*. I would add a code.',
  });
  return thread_id;
}

async function playIncident(clients: Clients, person: string): Promise<void> {
  const { thread_id, say } = await openThread(
    clients,
    'Nightly build is red',
    'sisyphus',
    ['sisyphus', 'atreides', person],
    'incident',
  );
  await say('sisyphus', 'The nightly run ends with exit 137 while the test suite runs. Memory, I think.');
  await say('atreides', 'The parallel runs share one emulator since Tuesday. Try with two workers.');
  await say('sisyphus', 'Exit 137 again with two workers. I retry with one.', {
    event_type: 'thread_escalated',
    reason: 'the third red night',
  });
  await clients.sisyphus.report_event({
    event_type: 'error',
    data: { message: 'exit 137 while running the test suite' },
    thread_id,
  });
}

async function playDesign(clients: Clients, person: string): Promise<void> {
  const { thread_id, say } = await openThread(
    clients,
    'Queue design',
    'atreides',
    ['atreides', 'planner', person],
    'conversation',
  );
  await say(
    'atreides',
    'Three designs compared: one table with `SKIP LOCKED`, a stream, and a log with cursors.',
  );
  await say('planner', 'The log with cursors. It is the only one that can be replayed.');
  await clients.planner.control_thread({ thread_id, control: { pause: { on: true } } });
}

async function playGuide(clients: Clients, person: string): Promise<void> {
  const { thread_id, say } = await openThread(
    clients,
    'Migration guide',
    'docs-bot',
    ['docs-bot', person],
    'conversation',
  );
  await say('docs-bot', 'The migration guide is written: docs/migrate.md. Every command in it was run.');
  await clients['docs-bot'].update_thread_status({
    thread_id,
    status: 'resolved',
    reason: 'the guide is written',
  });
}

async function raiseAsks(clients: Clients, thread_id: string): Promise<void> {
  await clients.executioner.raise_ask({
    thread_id,
    kind: 'approval',
    prompt: 'Rewrites a remote branch that the reviewer has seen.',
    command: 'git push origin fix/user-mapper --force-with-lease',
    cwd: '~/src/mobile',
    risk: 'high',
    rule: 'ask before push',
    expires_in_ms: 3_600_000,
  });
  await clients.planner.raise_ask({
    thread_id,
    kind: 'question',
    prompt: 'Two mappers share the null fallback. Fix both in this task, or open TASK-220 for the second?',
    options: [
      { id: 'both', label: 'Fix both' },
      { id: 'task', label: 'Open TASK-220' },
    ],
    risk: 'low',
    expires_in_ms: 7_200_000,
  });
}

async function settle(clients: Clients, thread_id: string): Promise<void> {
  const { atreides, reviewer } = DAY_AGENTS;
  await clients.atreides.update_agent_status({
    status: 'busy',
    metadata: { ...toFacts(atreides), currentTask: 'Comparing three queue designs' },
  });
  await clients.reviewer.update_agent_status({
    status: 'busy',
    metadata: {
      ...toFacts(reviewer),
      currentTask: 'null fallback review',
      rateLimitedUntil: new Date(Date.now() + 5_400_000).toISOString(),
    },
  });
  await clients.reviewer.set_presence({ thread_id, state: 'thinking', ttl_ms: 3_600_000 });
}

function toFacts({ model, cwd }: { model: string; cwd: string }): { model: string; cwd: string } {
  return { model, cwd };
}
