import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test, vi } from 'vitest';

import { freshPath, parley } from '../cli/parley.ts';
import { useHub } from '../harness/use-hub.ts';
import { HASTY, type Managed, manage } from './managed.ts';

vi.setConfig({ testTimeout: 120_000 });
const scene = useHub();
const QUIET_S = 0.5;

/** A shell whose prompt counts the commands it has run. */
async function manageBash(options = HASTY): Promise<Managed & { folder: string }> {
  const folder = freshPath('work');
  mkdirSync(folder);
  const managed = await manage(scene, ['/bin/bash', '--norc', '-i'], {
    cwd: folder,
    env: { PS1: 'n=\\# > ' },
    options,
  });
  await managed.person.sees('n=1 >');
  return { ...managed, folder };
}

/** Lets the person type for a while; returns how to make them stop. */
function keepTyping({ person }: Managed, everyMs: number): () => void {
  const timer = setInterval(() => person.type('x'), everyMs);
  return () => clearInterval(timer);
}

test('a text reaches a quiet shell, quoted, and is told step by step', async () => {
  const shell = await manageBash();
  const reported = await shell.deliver("it's time to read your mail");
  expect(reported).toMatchObject({
    result: 'submitted',
    evidence: ['typed', 'seen', 'entered', 'prompt_again'],
    altered: ['quoted'],
  });
  await shell.person.sees('n=2 >');
  expect((await shell.person.screen()).join('\n')).toContain("n=1 > : 'it’s time to read your mail'");
});

const HOSTILE = {
  'control bytes and sequences':
    'a\u0003b\u0004c\u001ad \u001b[201~touch P\r\u001b]52;c;aGk=\u0007 \u001b[A \r touch P \u007f\u0080\u009b201~ end',
  'an end marker that is rebuilt when one is removed': 'x \u001b[20\u001b[201~1~\r\ntouch P\r\ny',
  'expansions, separators, quotes and lines':
    '$(touch P) `touch P`; touch P | touch P & touch P\ntouch P\n\'; touch P; \' "$(touch P)" !touch !! \\\n# $(touch P)',
};

test('[HUB-W8] [C-WAKE-12] [C-WAKE-13] of control sequences, rebuilt end markers and expansions nothing runs, one line is sent', async () => {
  const shell = await manageBash();
  let prompt = 1;
  for (const [name, text] of Object.entries(HOSTILE)) {
    const before = shell.person.raw().length;
    const reported = await shell.deliver(text);
    expect(reported.result, name).toBe('submitted');
    // One line, and one command: the prompt counts.
    await shell.person.sees(`n=${++prompt} >`);
    shell.person.type(`echo "end of $((${prompt}+1))"\r`);
    await shell.person.sees(`end of ${prompt + 1}`);
    await shell.person.sees(`n=${++prompt} >`);
    expect(existsSync(join(shell.folder, 'P')), name).toBe(false);
    const typed = shell.person.raw().slice(before);
    expect(typed, name).not.toContain('\u0003');
    expect(typed, name).not.toContain(']52;c;aGk=\u0007');
  }
});

test('a person at the keyboard is waited for, and a half-typed line is never touched', async () => {
  const shell = await manageBash(['--quiet', '1s', '--recheck', '100ms', '--max-defer', '60s']);
  shell.person.type('echo ha');
  await shell.person.sees('echo ha');
  const reported = await shell.deliver('a message', { delivery_id: 'one', wait_ms: 0 });
  expect(reported).toMatchObject({ result: 'deferred', defer_reason: 'human_input_busy', evidence: [] });
  expect(Date.parse(reported.deferred_until ?? '')).toBeGreaterThan(Date.now() - 5_000);
  await vi.waitFor(
    async () =>
      expect(await shell.ask('terminal_state')).toMatchObject({
        draft: true,
        deferred: [{ delivery_id: 'one', detail: 'a draft stands at the prompt' }],
      }),
    { timeout: 20_000, interval: 200 },
  );
  shell.person.type('lf\r');
  await shell.person.sees(/^half/m);
  expect(await shell.deliver('a message', { delivery_id: 'one' })).toMatchObject({ result: 'submitted' });
  await shell.person.sees('n=3 >');
  expect((await shell.person.screen()).join('\n')).toContain("n=2 > : 'a message'");
});

test('a person who goes on typing is not disturbed: the text is given up', async () => {
  const shell = await manageBash();
  const stop = keepTyping(shell, 100);
  const error = await shell.refused('terminal_deliver', {
    delivery_id: 'c',
    text: 'hello you',
    wait_ms: 30_000,
  });
  stop();
  expect(error).toMatchObject({ code: 'HUMAN_INPUT_COLLISION', details: { reason: 'human_input_busy' } });
  expect((error.details as { waited_ms: number }).waited_ms).toBeGreaterThanOrEqual(3_000);
  await sleep(QUIET_S * 2_000);
  expect((await shell.person.screen()).join('')).toMatch(/^n=1 > x+$/);
  // Asked again it says the same, and a new text waits for the draft as well.
  expect(await shell.refused('terminal_deliver', { delivery_id: 'c', text: 'hello you' })).toMatchObject({
    code: 'HUMAN_INPUT_COLLISION',
  });
});

test('force is for an operator who says who they are and why; it spares a draft all the same', async () => {
  const shell = await manageBash(['--quiet', '60s', '--recheck', '100ms', '--max-defer', '1s']);
  const force = { delivery_id: 'f', text: 'urgent news for you', mode: 'force', wait_ms: 30_000 };
  const said = { operator: 'boss', audit: { reason: 'the build is on fire' } };
  const orchestrator = scene.as('lead', { role: 'orchestrator' });
  shell.person.type('echo one\r');
  await shell.person.sees(/^one/m);
  await scene
    .as('worker')
    .refused(
      'command_agent',
      { of_agent: shell.agent, command: 'terminal_deliver', parameters: { ...force, ...said } },
      'INSUFFICIENT_AUTHORITY',
    );
  const refusals = [
    await shell.refused('terminal_deliver', { ...force, ...said, operator: 'lead' }, orchestrator),
    await shell.refused('terminal_deliver', force),
    await shell.refused('terminal_deliver', { ...force, operator: 'boss' }),
    await shell.refused('terminal_deliver', { ...force, ...said, operator: 'somebody' }),
  ];
  expect(refusals.map(({ code }) => code)).toEqual([
    'INSUFFICIENT_AUTHORITY',
    'VALIDATION_ERROR',
    'VALIDATION_ERROR',
    'CLAIM_MISMATCH',
  ]);
  expect(await shell.ask('terminal_deliver', { ...force, ...said })).toMatchObject({ result: 'submitted' });
  await shell.person.sees('n=3 >');
  const { journal_thread_id } = await shell.boss.ok('get_agent', { of_agent: shell.agent });
  const journal = await shell.boss.ok('read_messages', { thread_id: journal_thread_id ?? '' });
  expect(JSON.stringify(journal.messages)).toContain('the build is on fire');

  shell.person.type('echo dra');
  await shell.person.sees('echo dra');
  expect(await shell.refused('terminal_deliver', { ...force, ...said, delivery_id: 'f2' })).toMatchObject({
    code: 'HUMAN_INPUT_COLLISION',
  });
  shell.person.type('ft\r');
  await shell.person.sees(/^draft/m);
});

test('what runs inside the shell gets nothing, and a program that ends says so', async () => {
  const shell = await manageBash();
  shell.person.type('cat > taken\r');
  await shell.person.sees('cat > taken');
  await sleep(QUIET_S * 1_000);
  await vi.waitFor(
    async () =>
      expect(await shell.deliver('for the shell only', { delivery_id: 'w', wait_ms: 0 })).toMatchObject({
        result: 'deferred',
        defer_reason: 'no_prompt',
      }),
    { timeout: 20_000, interval: 200 },
  );
  const answer = shell.refused('terminal_deliver', {
    delivery_id: 'w2',
    text: 'for the shell only',
    wait_ms: 60_000,
  });
  // What has not reached the supervisor before its end could not be answered.
  await vi.waitFor(async () => expect((await shell.ask('terminal_state')).deferred).toHaveLength(2), {
    timeout: 20_000,
  });
  shell.person.type('\u0004');
  shell.person.type('exit\r');
  expect(await shell.person.exited).toEqual({ code: 0, signal: null });
  expect(await answer).toMatchObject({ code: 'WAKE_FAILED', details: { reason: 'program_ended' } });
});

test('a program that is not known to take text is never typed into', async () => {
  const cat = await manage(scene, ['/bin/cat']);
  expect(await cat.refused('terminal_deliver', { delivery_id: 'x', text: 'hello there' })).toMatchObject({
    code: 'WAKE_FAILED',
    details: { reason: 'program_closed' },
  });
  expect((await cat.person.screen()).join('')).toBe('');
});

test('one id is one delivery, whoever asks how often', async () => {
  const shell = await manageBash();
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => shell.deliver('only once, please', { delivery_id: 'same' })),
  );
  expect(new Set(answers.map(({ result }) => result))).toEqual(new Set(['submitted']));
  expect(
    await shell.refused('terminal_deliver', { delivery_id: 'same', text: 'something else' }),
  ).toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
  });
  await shell.person.sees('n=2 >');
  expect((await shell.person.screen()).join('\n').match(/only once/g)).toHaveLength(1);
  expect(await shell.ask('terminal_cancel', { delivery_id: 'same' })).toEqual({ cancelled: false });
});

test('a person elsewhere takes over for a time; the one at the machine takes back by typing', async () => {
  const shell = await manageBash();
  const { lock_id } = await shell.ask('terminal_lock', { ttl_ms: 60_000 });
  expect(await shell.ask('terminal_type', { lock_id, keys: 'echo from afar\r' })).toEqual({ typed: 15 });
  await shell.person.sees(/^from afar/m);
  expect(await shell.deliver('wait for it', { delivery_id: 'l', wait_ms: 300 })).toMatchObject({
    defer_reason: 'taken_over',
  });
  const other = scene.as('second', { role: 'operator' });
  expect(await shell.refused('terminal_lock', {}, other)).toMatchObject({ code: 'CONFLICT' });
  expect(await shell.refused('terminal_type', { lock_id, keys: 'x' }, other)).toMatchObject({
    code: 'CONFLICT',
  });
  const lead = scene.as('lead', { role: 'orchestrator' });
  expect(await shell.refused('terminal_lock', {}, lead)).toMatchObject({ code: 'INSUFFICIENT_AUTHORITY' });

  shell.person.type('echo mine\r');
  await shell.person.sees(/^mine/m);
  expect(await shell.refused('terminal_type', { lock_id, keys: 'x' })).toMatchObject({
    code: 'CONFLICT',
    details: { reason: 'lock_lost' },
  });
  expect(await shell.refused('terminal_lock', {})).toMatchObject({ code: 'HUMAN_INPUT_COLLISION' });
  expect(await shell.deliver('wait for it', { delivery_id: 'l' })).toMatchObject({ result: 'submitted' });

  // What was begun from afar is a draft too.
  const again = await vi.waitFor(() => shell.ask('terminal_lock', {}), { timeout: 20_000, interval: 200 });
  await shell.ask('terminal_type', { lock_id: again.lock_id, keys: 'echo half' });
  expect(await shell.ask('terminal_lock', { ttl_ms: 2_000 })).toMatchObject({ lock_id: again.lock_id });
  expect(await shell.ask('terminal_unlock', { lock_id: again.lock_id })).toEqual({ released: true });
  expect(await shell.ask('terminal_state')).toMatchObject({ lock: null, draft: true });
  shell.person.type('\u0003');

  const short = await vi.waitFor(() => shell.ask('terminal_lock', { ttl_ms: 1_000 }), {
    timeout: 20_000,
    interval: 200,
  });
  await vi.waitFor(async () => expect((await shell.ask('terminal_state')).lock).toBeNull(), {
    timeout: 20_000,
  });
  expect(await shell.ask('terminal_unlock', { lock_id: short.lock_id })).toEqual({ released: false });
});

test('the screen can be read from elsewhere, and by parley agent screen', async () => {
  const shell = await manageBash();
  shell.person.type(String.raw`printf '\033[31mred\033[0m and plain\n'` + '\r');
  await shell.person.sees(/^red and plain/m);
  await vi.waitFor(
    async () => {
      const { lines, cols, state } = await shell.ask('terminal_screen');
      expect(lines).toContain('red and plain');
      expect({ cols, state: state.state }).toEqual({ cols: 100, state: 'idle' });
    },
    { timeout: 20_000, interval: 200 },
  );
  const env = { PARLEY_URL: scene.hub.url, PARLEY_TOKEN: shell.boss.token };
  const shown = await parley(['agent', 'screen', shell.agent], { env });
  expect(shown.stdout).toContain('\nred and plain\n');
  expect(shown.stderr).toContain(`${shell.agent}: idle`);
  const asData = await parley(['agent', 'screen', shell.agent, '--json'], { env });
  expect(JSON.parse(asData.stdout)).toMatchObject({ cols: 100, rows: 30 });
});

test('parley agent type takes the terminal over for a moment, types, and gives it back', async () => {
  const shell = await manageBash();
  const env = { PARLEY_URL: scene.hub.url, PARLEY_TOKEN: shell.boss.token };
  const type = (...words: string[]) => parley(['agent', 'type', shell.agent, ...words, '--json'], { env });
  const typed = await type('echo "from $((40 + 2)) miles"', '--enter');
  expect(JSON.parse(typed.stdout)).toEqual({ of_agent: shell.agent, typed: 30 });
  await shell.person.sees(/^from 42 miles/m);
  expect(await shell.ask('terminal_state')).toMatchObject({ lock: null });
  // Nobody sits there: what came from elsewhere is not the person's typing.
  const kept = await type('--keep', '--for', '30s');
  expect([kept.code, kept.stderr]).toEqual([0, '']);
  expect(await shell.ask('terminal_state')).toMatchObject({ lock: { holder: 'boss' } });
  expect((await type()).code).toBe(2);
  expect((await type('x', '--force')).code).toBe(2);
});

test('parley agent type --force takes over from a person who types, and says why', async () => {
  const shell = await manageBash();
  const env = { PARLEY_URL: scene.hub.url, PARLEY_TOKEN: shell.boss.token };
  const type = (...words: string[]) => parley(['agent', 'type', shell.agent, ...words, '--json'], { env });
  shell.person.type('echo half');
  await shell.person.sees(/echo half/);
  expect((await type('x')).code).not.toBe(0);
  expect((await type(' and whole', '--enter', '--force', '--reason', 'the release waits')).code).toBe(0);
  await shell.person.sees(/^half and whole/m);
});

test('the session is a managed one, and takes leave with its program', async () => {
  const shell = await manageBash();
  const sessions = async () =>
    (await shell.boss.ok('list_sessions', { of_agent: shell.agent })).sessions.map(
      ({ management_mode, runtime, status }) => ({ management_mode, runtime, status }),
    );
  expect(await sessions()).toEqual([
    { management_mode: 'managed', runtime: 'bash-terminal', status: expect.stringMatching(/idle|active/) },
  ]);
  shell.person.type('exit 4\r');
  expect(await shell.person.exited).toEqual({ code: 4, signal: null });
  await vi.waitFor(async () => expect(await sessions()).toMatchObject([{ status: 'offline' }]), {
    timeout: 20_000,
  });
});
