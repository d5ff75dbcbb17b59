import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { Client } from '@parley/client';
import { expect } from 'vitest';

import { DAY_AGENTS, type DayAgent, playDay } from '../../packages/hub/src/cli/run/demo/demo-day.ts';
import { type PastState, writePast } from '../harness/past-states.ts';
import { freshFolder } from '../harness/start-hub.ts';
import { deadLetter } from './dead-letter.ts';
import { type Desk, openDesk, PERSON } from './desk.ts';

/** A desk on a day on which much goes on, and the ways to what is on it. */
export interface BusyDesk extends Desk {
  /** A thread with all that can be written. */
  written: string;
  /** A thread whose agents were told to hold still. */
  paused: string;
  asks: Record<'high' | 'low' | 'form' | 'choice' | 'answered' | 'denied', string>;
}

const HOUR_MS = 3_600_000;

const asked = (id: string) => ({ waits_for: { what: 'answer', ask_id: `ask_${id}` } }) as const;

/** What each was at, so that there is a day to look back on. */
const PAST: Record<string, readonly PastState[]> = {
  planner: [
    ['idle', 420, 'nothing to do'],
    ['working', 310, 'plans TASK-219'],
    ['needs_you', 45, 'asks: fix both, or open TASK-220?', asked('01')],
    ['working', 190, 'splits the mapper into two tasks'],
    ['idle', 240, 'nothing to do'],
  ],
  executioner: [
    ['working', 380, 'moves the mapper to the new schema'],
    ['needs_you', 130, 'asks to run: git push --force-with-lease', asked('02')],
    ['working', 420, 'adds two tests for the fallback'],
    ['idle', 350, 'nothing to do'],
  ],
  reviewer: [
    ['idle', 500, 'nothing to do'],
    ['working', 240, 'reviews the profile mapper'],
    ['stuck', 90, 'rate-limited until later', { waits_for: { what: 'rate_limit', until: rateLimitEnd() } }],
    ['working', 260, 'reviews the profile mapper'],
  ],
  sisyphus: [
    ['working', 640, 'runs the nightly suite'],
    ['error', 150, 'exit 137 while running the test suite'],
    ['working', 300, 'runs the suite with two workers'],
  ],
  atreides: [
    ['offline', 480, 'process gone'],
    ['working', 600, 'compares three queue designs'],
  ],
  'docs-bot': [
    ['working', 500, 'writes the index'],
    ['offline', 940, 'silent; no connection and no heartbeat'],
  ],
};

function rateLimitEnd(): string {
  return new Date(Date.now() - HOUR_MS).toISOString();
}

const PLAN = `Before we tag **2.4** three things are left:

1. the migration, see below
2. a second look at the null fallback
3. the notes, which I have begun

- [x] every test on three nodes
- [ ] the upgrade tried on last week’s data

| file | what changes | lines |
| :--- | :----------- | ----: |
| \`lib/features/profile/data/mappers/user_mapper.dart\` | falls back to the display name | +12 −3 |
| \`lib/features/team/data/mappers/team_mapper.dart\` | the same, for teams | +2 −2 |
| \`migrations/0042_profiles.sql\` | a column that may be empty | +8 |

\`\`\`dart
/// What a person is called where no nickname was chosen.
String nameOf(ProfileDto dto) {
  final name = dto.nickname ?? dto.displayName;
  return name.trim().isEmpty ? 'Somebody' : name.trim(); // never the text "null", whatever the server sends for it
}
\`\`\``;

const CHANGE = `Here is the change as I would push it:

diff --git a/lib/features/profile/data/mappers/user_mapper.dart b/lib/features/profile/data/mappers/user_mapper.dart
index 1234567..89abcde 100644
--- a/lib/features/profile/data/mappers/user_mapper.dart
+++ b/lib/features/profile/data/mappers/user_mapper.dart
@@ -38,7 +38,9 @@ class UserMapper {
   Profile map(ProfileDto dto) {
-    final name = '\${dto.nickname}';
-    final avatar = Uri.parse(dto.avatarUrl);
+    final name = nameOf(dto);
+    final avatar = Uri.tryParse(dto.avatarUrl.trim());
+    if (avatar == null) log.warn('no avatar of \${dto.id}: \${dto.avatarUrl}');
     return Profile(id: dto.id, name: name, avatar: avatar);
   }`;

const LONG = `I read all of it again, and this is what I would want to know a year from now.

The mapper was written when the server always sent a nickname. Since the spring it may leave it out, and since Tuesday it does so for everybody who signed in by their company. The old code turned a missing nickname into the text “null”, which is what people saw above their own messages; nobody noticed in the tests, because every fixture has a nickname.

> A missing field is not an empty one: whoever reads it must say what it means.

So the fallback belongs into the mapper and not into the widget. The second fault is older: an address with a space at its end does not parse, and the whole list failed with it. I would rather show no picture than no list.

What I did **not** look at is \`ThisIsAnIdentifierThatSomebodyWroteWithoutAnySpaceOrHyphenSoThatItMustBreakSomewhere\`, and https://ci.example.com/mobile/pipelines/2026/11/18/build-8812/artifacts/profile-mapper/coverage/index.html, which is red for another reason.`;

/** A desk with a day of work on it, and with something of everything that can be shown. */
export async function openBusyDesk(): Promise<BusyDesk> {
  const data = freshFolder();
  await writePast(data, 'w1', PAST);
  const desk = await openDesk({
    data,
    // Nobody beats after the day was played, and what they asked for must stand until the last picture.
    settings: { 'sessions.offline_after_ms': HOUR_MS, 'sessions.stuck_after_ms': HOUR_MS },
  });
  const clients = Object.fromEntries(
    Object.entries(DAY_AGENTS).map(([name, { role }]) => [name, desk.agent(name, role)]),
  ) as Record<DayAgent, Client>;
  await playDay(clients, PERSON);
  const person = desk.agent(PERSON, 'operator');
  const written = await writeAll(clients);
  const paused = await pauseOne(clients);
  const asks = await raiseMany(clients, person, written);
  await reportUsage(clients, written);
  // Nothing can wake it, and how that went is what its page shows.
  await expect(
    person.trigger_participant({ thread_id: written, target_agent_id: 'docs-bot' }),
  ).rejects.toThrow();
  await deadLetter(desk, randomUUID());
  return { ...desk, written, paused, asks };
}

async function writeAll({ planner, executioner, reviewer }: Record<DayAgent, Client>): Promise<string> {
  const { thread_id } = await planner.create_thread({
    title: 'Release 2.4: what is left before we tag it, and who does what until Friday',
    participants: ['executioner', 'reviewer', 'docs-bot', 'atreides', PERSON],
  });
  const say = (by: Client, body: string) => by.post_message({ thread_id, schema_version: 1, body });
  const screenshot = fileURLToPath(new URL('../../docs/pictures/now-phone-dark.png', import.meta.url));
  const picture = await executioner.uploadArtifact(new Uint8Array(readFileSync(screenshot)), {
    name: 'after.png',
    mime_type: 'image/png',
  });
  const notes = await executioner.uploadArtifact(
    new TextEncoder().encode('name,lines\nuser_mapper,15\n'.repeat(40)),
    {
      name: 'coverage.csv',
      mime_type: 'text/csv',
    },
  );
  const shown = (kept: typeof picture): string =>
    `[${kept.artifact.name}](artifact:${kept.artifact.artifact_id})`;
  await say(planner, PLAN);
  await say(executioner, CHANGE);
  await say(
    executioner,
    `This is how it looks now, and the coverage beside it:\n\n!${shown(picture)}\n\n${shown(notes)}`,
  );
  await say(reviewer, LONG);
  await say(reviewer, 'مرحبا، الإصدار جاهز بعد تغيير `user_mapper.dart`، من فضلك راجع الملف قبل يوم الجمعة.');
  await say(planner, 'Спасибо, посмотрю до пятницы. @executioner, please go on with the migration.');
  return thread_id;
}

async function pauseOne({ atreides, planner }: Record<DayAgent, Client>): Promise<string> {
  const { thread_id } = await atreides.create_thread({
    title: 'Which store for the journal',
    participants: ['planner', PERSON],
  });
  await atreides.post_message({ thread_id, schema_version: 1, body: 'SQLite first. Does anybody disagree?' });
  await planner.control_thread({ thread_id, control: { pause: { on: true } } });
  return thread_id;
}

async function raiseMany(
  { executioner, reviewer, atreides, 'docs-bot': docs }: Record<DayAgent, Client>,
  person: Client,
  thread_id: string,
): Promise<BusyDesk['asks']> {
  const raise = async (by: Client, ask: Parameters<Client['raise_ask']>[0]): Promise<string> =>
    (await by.raise_ask({ thread_id, expires_in_ms: 2 * HOUR_MS, ...ask })).ask.ask_id;
  const command = (by: Client, text: string, prompt: string, cwd = '~/src/mobile') =>
    raise(by, { kind: 'approval', prompt, command: text, cwd, risk: 'low' });
  const high = await raise(executioner, {
    kind: 'approval',
    prompt: 'The build folder is from the old schema and hides the fault.',
    command:
      'rm -rf build .dart_tool && flutter pub get && flutter build apk --release --split-per-abi --dart-define=CHANNEL=nightly',
    cwd: '~/src/mobile',
    risk: 'high',
    rule: 'ask before anything is deleted',
  });
  const low = await command(reviewer, 'flutter test test/profile_mapper_test.dart', 'To see it fail first.');
  await command(
    atreides,
    'npm run bench -- queue --seed 4',
    'To compare the three designs.',
    '~/src/research',
  );
  await command(executioner, 'dart format lib test', 'The formatter has changed its mind since 3.6.');
  const form = await raise(docs, {
    kind: 'elicitation',
    prompt: 'What should the notes of 2.4 say about the migration?',
    schema: {
      type: 'object',
      properties: {
        headline: { type: 'string', title: 'Headline', description: 'One line, as people read it' },
        audience: { type: 'string', title: 'For whom', enum: ['everybody', 'administrators', 'developers'] },
        minutes: { type: 'integer', title: 'Minutes that it takes', minimum: 1 },
        downtime: { type: 'boolean', title: 'The hub is down meanwhile' },
      },
      required: ['headline', 'audience'],
    },
  });
  const choice = await raise(atreides, {
    kind: 'question',
    prompt: 'Which of the three designs do I work out?',
    options: [
      { id: 'log', label: 'The log with cursors' },
      { id: 'table', label: 'One table with SKIP LOCKED' },
      { id: 'stream', label: 'A stream per workspace, replayed from the log' },
    ],
  });
  const answered = await command(reviewer, 'git fetch origin', 'To see what was pushed.');
  await person.answer_ask({ ask_id: answered, decision: 'approved', scope: 'session' });
  const denied = await command(executioner, 'git push origin main', 'The release branch is behind.');
  await person.answer_ask({ ask_id: denied, decision: 'denied', reason: 'Not before Friday.' });
  return { high, low, form, choice, answered, denied };
}

async function reportUsage(clients: Record<DayAgent, Client>, thread_id: string): Promise<void> {
  const tokens = (input: number, cached: number, output: number) => ({
    input_tokens: input,
    cached_input_tokens: cached,
    output_tokens: output,
  });
  await clients.planner.report_usage({
    model: 'claude-opus-4-5',
    ...tokens(900_000, 700_000, 60_000),
    cost_usd: 1.84,
    thread_id,
  });
  await clients.executioner.report_usage({ model: 'gpt-5.2-codex', ...tokens(640_000, 320_000, 41_000) });
  await clients.reviewer.report_usage({
    model: 'claude-opus-4-5',
    ...tokens(410_000, 90_000, 30_000),
    cost_usd: 0.97,
    thread_id,
  });
  await clients.sisyphus.report_usage({ model: 'gpt-5.2-codex', ...tokens(120_000, 0, 9_000) });
  await clients['docs-bot'].report_usage({ cost_usd: 0.042 });
}
