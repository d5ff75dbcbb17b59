import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, onTestFinished, test } from 'vitest';

import { faces } from '../harness/call.ts';
import type { FaceDriver } from '../harness/face-driver.ts';
import { freshFolder } from '../harness/start-hub.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';
import { openSupervisor } from './scripted-supervisor.ts';
import { journalOf, journalSteps, wokenFor } from './wake-steps.ts';

const CODEX = fileURLToPath(new URL('telling-codex.mjs', import.meta.url));
const THREAD = '019a0000-0000-7000-8000-000000000001';
const data = freshFolder();
const work = join(dirname(data), 'work');
mkdirSync(work, { recursive: true });

const profile = (agent: string, more: object = {}) => ({
  agent,
  workspace: 'w1',
  runtime: 'codex',
  bin: CODEX,
  cwd: work,
  home: work,
  ...more,
});

const SECRETS = {
  PARLEY_TOKEN: 'canary-token',
  DATABASE_URL: 'postgres://canary-database',
  SOME_API_KEY: 'canary-other',
};

const scene = useHub({
  data,
  env: { ...SECRETS, OPENAI_API_KEY: 'for the agent' },
  settings: {
    'wake.agents': JSON.stringify([
      profile('resumed', { env: ['OPENAI_API_KEY'] }),
      profile('twice'),
      profile('hushed', { quiet: true }),
      profile('old', { env: ['TELLING_VERSION'], doors: ['resume'], bin: join(work, 'missing') }),
    ]),
    'wake.recheck_ms': 50,
    'wake.quiet_ms': 60_000,
    'wake.grace_ms': 20,
  },
});

interface Started {
  args: string[];
  prompt: string;
  environ: string;
  cmdline: string;
}

function started(): Started[] {
  const file = join(work, 'started.jsonl');
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Started);
}

/** Somebody's unread message for an agent. */
async function unread(from: Participant, agent: string, body = 'look'): Promise<string> {
  // Of three: between two the message itself would call the agent.
  const thread_id = await from.thread(agent, 'bystander');
  await from.say(thread_id, body);
  return thread_id;
}

async function supervise(agent: string) {
  const supervisor = await openSupervisor(scene.hub.url, scene.as(agent).token);
  onTestFinished(() => supervisor.close());
  return supervisor;
}

/** The name of an agent of its own for each face. */
const nameOver = (face: FaceDriver, name: string): string => `${name}-${face.name.replaceAll(/\W/g, '')}`;

test.each(faces)(
  '[HUB-M9] [HUB-W1] over $name a managed agent is woken through its supervisor',
  async (face) => {
    const agent = nameOver(face, 'managed');
    const supervisor = await supervise(agent);
    const alice = scene.as('alice', { face });
    const thread_id = await unread(alice, agent);
    const reported = await alice.ok('trigger_participant', {
      thread_id,
      target_agent_id: agent,
      reason: 'new_unread_messages',
      trigger_prompt: 'read it',
    });
    expect(reported).toEqual({
      trigger_id: reported.trigger_id,
      target_agent_id: agent,
      action: 'trigger_runtime',
      result: 'delivered',
      door: 'supervisor',
      proof: 'runtime_status',
      passed: [{ door: 'managed', reason: 'not_configured' }],
      triggered_at: reported.triggered_at,
    });
    expect(supervisor.delivered).toMatchObject([
      { delivery_id: `${reported.trigger_id}-1`, text: expect.stringContaining('note: read it') },
    ]);
    const none = await alice.ok('trigger_participant', { thread_id, target_agent_id: agent });
    expect(none).toMatchObject({ action: 'none', result: 'skipped', reason: 'already_woken' });
  },
);

test('[HUB-W1] what a supervisor has typed without proof is not called delivered', async () => {
  const supervisor = await supervise('unproven');
  supervisor.answer = () => ({ result: 'typed', evidence: ['typed', 'seen', 'entered'] });
  const alice = scene.as('alice');
  const thread_id = await unread(alice, 'unproven');
  const trigger = { thread_id, target_agent_id: 'unproven' };
  const error = await alice.refused('trigger_participant', trigger, 'WAKE_FAILED');
  expect(error.details['passed']).toContainEqual({ door: 'supervisor', reason: 'unproven: typed' });
});

test('a program that takes no text is not waited at as if it were being typed into: the answer says so, and the wake goes in when it does', async () => {
  const supervisor = await supervise('no-prompt');
  supervisor.noPrompt = { detail: 'less runs in the shell', starting: false };
  const alice = scene.as('alice');
  const thread_id = await unread(alice, 'no-prompt');
  const reported = await alice.ok('trigger_participant', { thread_id, target_agent_id: 'no-prompt' });
  expect(reported).toMatchObject({ result: 'deferred', defer_reason: 'no_prompt: less runs in the shell' });
  expect(reported.passed).toContainEqual({ door: 'supervisor', reason: reported.defer_reason });
  // A minute, not a day.
  const waits = Date.parse(reported.deferred_until ?? '') - Date.parse(reported.triggered_at);
  expect(waits).toBeLessThan(600_000);
  expect(supervisor.delivered).toEqual([]);
  supervisor.noPrompt = undefined;
  await expect.poll(() => supervisor.delivered.length, { timeout: 30_000 }).toBe(1);
  await expect
    .poll(() => journalSteps(scene, 'no-prompt', reported.trigger_id))
    .toEqual(['asked', 'deferred', 'delivering', 'delivered']);
});

test.each(faces)(
  '[HUB-W3] [HUB-M9] [C-WAKE-04] over $name, while a person types the wake is deferred, looks again and again, and goes in once it is quiet',
  async (face) => {
    const agent = nameOver(face, 'typed-at');
    const supervisor = await supervise(agent);
    supervisor.humanIdleMs = 3_000;
    const alice = scene.as('alice', { face });
    const thread_id = await unread(alice, agent);
    const reported = await alice.ok('trigger_participant', { thread_id, target_agent_id: agent });
    expect(reported).toMatchObject({
      action: 'trigger_runtime',
      result: 'deferred',
      defer_reason: 'human_input_busy',
    });
    expect(Date.parse(reported.deferred_until ?? '')).toBeGreaterThan(Date.parse(reported.triggered_at));
    await expect.poll(() => supervisor.looks, { timeout: 30_000 }).toBeGreaterThan(3);
    expect(supervisor.delivered).toEqual([]);
    expect(await wokenFor(scene, thread_id, 1)).toMatchObject([
      { result: 'deferred', why: 'human_input_busy' },
    ]);
    supervisor.humanIdleMs = 60_000;
    await expect.poll(() => supervisor.delivered.length, { timeout: 30_000 }).toBe(1);
    await expect
      .poll(() => journalSteps(scene, agent, reported.trigger_id))
      .toEqual(['asked', 'deferred', 'delivering', 'delivered']);
  },
);

test.each(faces)(
  '[HUB-W4] [C-WAKE-06] [HUB-A3] force over $name: refused to a worker, refused without audit, and on record with who and why',
  async (face) => {
    const agent = nameOver(face, 'forced');
    const supervisor = await supervise(agent);
    supervisor.humanIdleMs = 0;
    const alice = scene.as('alice', { face });
    const ann = scene.as('ann', { role: 'operator', face });
    const thread_id = await unread(alice, agent);
    const trigger = { thread_id, target_agent_id: agent, force: true };
    const audit = { asked_by: 'ann', why: 'the release waits' };
    await scene.unchanged(async () => {
      await alice.refused('trigger_participant', { ...trigger, audit }, 'INSUFFICIENT_AUTHORITY');
      const chief = scene.as('chief', { role: 'orchestrator', face });
      await chief.refused('trigger_participant', { ...trigger, audit }, 'INSUFFICIENT_AUTHORITY');
      await ann.refused('trigger_participant', trigger, 'VALIDATION_ERROR');
    });
    expect(await ann.ok('trigger_participant', { ...trigger, audit })).toMatchObject({ result: 'delivered' });
    expect(supervisor.delivered).toMatchObject([{ mode: 'force', operator: 'ann', audit }]);
    const asked = (await journalOf(scene, agent)).find(({ metadata }) => metadata?.['step'] === 'asked');
    expect(asked).toMatchObject({
      sender_agent_id: 'ann',
      metadata: { by: 'ann', force: { by: 'ann', audit } },
    });
  },
);

test('[C-WAKE-08] [C-WAKE-09] fifty at once are one delivery, and what was read wakes nobody', async () => {
  const supervisor = await supervise('crowded');
  const alice = scene.as('alice');
  const thread_id = await unread(alice, 'crowded');
  const trigger = { thread_id, target_agent_id: 'crowded' };
  const reported = await Promise.all(
    Array.from({ length: 50 }, () => alice.ok('trigger_participant', trigger)),
  );
  expect(supervisor.delivered).toHaveLength(1);
  expect(reported.filter(({ result }) => result === 'delivered').length).toBeGreaterThan(0);
  const ids = new Set(
    reported.filter(({ result }) => result === 'delivered').map(({ trigger_id }) => trigger_id),
  );
  expect(ids.size).toBe(1);
  expect(
    reported.filter(({ result }) => result !== 'delivered').every(({ reason }) => reason === 'already_woken'),
  ).toBe(true);
  await scene.as('crowded').ok('read_messages', { thread_id });
  expect(await alice.ok('trigger_participant', trigger)).toMatchObject({
    action: 'none',
    result: 'skipped',
    reason: 'nothing_unread',
  });
  expect(supervisor.delivered).toHaveLength(1);
});

test('[HUB-W6] [C-WAKE-07] a supervisor that has gone, no resume, no spawn: WAKE_FAILED, nothing changed', async () => {
  const supervisor = await openSupervisor(scene.hub.url, scene.as('dead').token);
  const alice = scene.as('alice');
  const thread_id = await unread(alice, 'dead');
  const trigger = { thread_id, target_agent_id: 'dead' };
  const target = scene.as('dead');
  const before = await Promise.all([alice, target].map((one) => one.ok('get_thread', { thread_id })));
  supervisor.answer = () => {
    throw new Error('the program has ended');
  };
  const gone = await alice.refused('trigger_participant', trigger, 'WAKE_FAILED');
  expect(gone.details['passed']).toContainEqual({ door: 'supervisor', reason: 'the program has ended' });
  const tries = supervisor.delivered.length;
  await supervisor.close();
  const error = await alice.refused('trigger_participant', trigger, 'WAKE_FAILED');
  expect(error.details['passed']).toContainEqual({
    door: 'supervisor',
    reason: 'supervisor_not_connected',
  });
  const after = await Promise.all([alice, target].map((one) => one.ok('get_thread', { thread_id })));
  expect(after).toEqual(before);
  expect(supervisor.delivered).toHaveLength(tries);
});

test.each(faces)(
  '[HUB-W2] [HUB-R4] [C-WAKE-03] over $name an unmanaged target gets no byte from a supervisor; with no other way it is UNMANAGED_RUNTIME',
  async (face) => {
    const agent = nameOver(face, 'loose');
    const supervisor = await supervise(agent);
    await scene.as(agent).ok('heartbeat_session', { runtime: 'codex_cli', management_mode: 'unmanaged' });
    const alice = scene.as('alice', { face });
    const thread_id = await unread(alice, agent);
    await alice.refused('trigger_participant', { thread_id, target_agent_id: agent }, 'UNMANAGED_RUNTIME');
    expect({ looks: supervisor.looks, delivered: supervisor.delivered }).toEqual({ looks: 0, delivered: [] });
  },
);

test('[HUB-W2] [HUB-W8] [C-WAKE-10] [C-WAKE-20] [R12] a resume is started by its arguments alone: no shell, no secret of the hub, the prompt by its input', async () => {
  const bob = scene.as('resumed');
  await bob.ok('heartbeat_session', { runtime: 'codex_cli', resumable: true, native_session_id: THREAD });
  const alice = scene.as('alice');
  const evil = `$(touch P) \`touch P\` ; touch P | & \n"' --dangerously-bypass-approvals-and-sandbox`;
  const { thread_id } = await alice.ok('create_thread', { title: evil, participants: ['resumed'] });
  await alice.say(thread_id, evil);
  const reported = await alice.ok('trigger_participant', {
    thread_id,
    target_agent_id: 'resumed',
    trigger_prompt: evil,
  });
  expect(reported).toMatchObject({ action: 'resume_session', result: 'delivered', door: 'codex_resume' });
  const run = started().at(-1);
  expect(run?.args).toEqual(['exec', 'resume', '--json', '--skip-git-repo-check', THREAD, '-']);
  expect(run?.prompt).toContain('note: $(touch P) `touch P` ; touch P | &');
  expect(existsSync(join(work, 'P'))).toBe(false);
  expect(reported.runtime_command).toMatch(
    new RegExp(`^codex exec resume ${THREAD} '\\[parley\\] resumed, [^']*'$`),
  );
  expect(reported.runtime_command).not.toContain('touch');
  const seen = `${run?.environ} ${run?.cmdline}`;
  expect(run?.environ).toContain('OPENAI_API_KEY=for the agent');
  const keys = JSON.parse(readFileSync(join(data, 'auth.json'), 'utf8')) as unknown;
  const secrets = [...Object.values(SECRETS), ...secretsIn(keys), scene.hub.data];
  for (const secret of secrets) expect(seen).not.toContain(secret);
  expect(seen).not.toContain('PARLEY_');
});

test('[HUB-W2] [HUB-M9] of two sessions the one that lives is resumed, also when the other has just said good-bye', async () => {
  const about = { runtime: 'codex_cli', resumable: true };
  const ending = { ...about, native_session_id: randomUUID() };
  await scene.as('twice', { session: 'first' }).ok('heartbeat_session', ending);
  const living = { ...about, native_session_id: THREAD };
  await scene.as('twice', { session: 'second' }).ok('heartbeat_session', living);
  await scene.as('twice', { session: 'first' }).ok('heartbeat_session', { ...ending, status: 'offline' });
  const alice = scene.as('alice');
  const thread_id = await unread(alice, 'twice');
  const reported = await alice.ok('trigger_participant', { thread_id, target_agent_id: 'twice' });
  expect(reported).toMatchObject({ result: 'delivered', door: 'codex_resume' });
  expect(started().at(-1)?.args).toContain(THREAD);
});

/** Every private part of the hub's keys. */
function secretsIn(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === 'string' && (name === 'd' || name.includes('private')) ? [inner] : secretsIn(inner),
  );
}

test('[C-WAKE-11] what could be read as a flag or a path is refused before it becomes the id of a session', async () => {
  for (const id of ['--dangerously-bypass-approvals-and-sandbox', '-c', 'a b', '../x', 'x'.repeat(200)]) {
    const bob = scene.as('resumed');
    const beat = { runtime: 'codex_cli', resumable: true };
    await bob.refused('heartbeat_session', { ...beat, native_session_id: id }, 'VALIDATION_ERROR');
    const other = scene.as('resumed', { session: id });
    await other.refused('heartbeat_session', beat, 'UNAUTHORIZED');
  }
});

test('a plain word as session id is never resumed: Codex would take it for the name of a new session', async () => {
  const alice = scene.as('alice');
  const before = started().length;
  const thread_id = await unread(alice, 'old');
  await scene
    .as('old', { session: 'sess_rv_12' })
    .ok('heartbeat_session', { runtime: 'codex_cli', resumable: true });
  const error = await alice.refused(
    'trigger_participant',
    { thread_id, target_agent_id: 'old' },
    'WAKE_FAILED',
  );
  expect(error.details['passed']).toContainEqual({ door: 'codex_resume', reason: 'no_resumable_session' });
  expect(started()).toHaveLength(before);
});

test('[BRIDGE-13] [BRIDGE-14] [BRIDGE-16] a person who calls by name, by task or to all the invited wakes; an agent only under discussion', async () => {
  const supervisor = await supervise('called');
  const ann = scene.as('ann', { role: 'operator' });
  const alice = scene.as('alice');
  const thread_id = await ann.thread('called', 'alice');
  const called = scene.as('called');
  const read = () => called.ok('read_messages', { thread_id });
  const wakes = (count: number) =>
    expect.poll(() => supervisor.delivered.length, { timeout: 30_000 }).toBe(count);
  await ann.say(thread_id, '@called please');
  await wakes(1);
  await read();
  await ann.ok('assign_task', { thread_id, to: 'called', body: 'do it' });
  await wakes(2);
  await read();
  await ann.ok('control_thread', { thread_id, control: { invited_auto: { on: true } } });
  await ann.say(thread_id, 'what do you all think?');
  await wakes(3);
  await read();
  await alice.say(thread_id, '@called from an agent, without discussion');
  await read();
  await ann.ok('control_thread', { thread_id, control: { discussion: { on: true } } });
  await alice.say(thread_id, '@called from an agent, with it');
  await wakes(4);
  const by = (await journalOf(scene, 'called'))
    .filter(({ metadata }) => metadata?.['step'] === 'asked')
    .map(({ metadata, sender_agent_id }) => [sender_agent_id, metadata?.['by'], metadata?.['reason']]);
  expect(by).toEqual([
    ...Array.from({ length: 3 }, () => ['parley', 'ann', 'called_upon']),
    ['parley', 'alice', 'called_upon'],
  ]);
});

test('one whom the operator keeps quiet is woken only by force', async () => {
  await scene
    .as('hushed')
    .ok('heartbeat_session', { runtime: 'codex_cli', resumable: true, native_session_id: THREAD });
  const ann = scene.as('ann', { role: 'operator' });
  const thread_id = await unread(ann, 'hushed');
  const trigger = { thread_id, target_agent_id: 'hushed' };
  expect(await ann.ok('trigger_participant', trigger)).toMatchObject({ result: 'skipped', reason: 'quiet' });
  const forced = { ...trigger, force: true, audit: { why: 'fire' } };
  expect(await ann.ok('trigger_participant', forced)).toMatchObject({ result: 'delivered' });
});
