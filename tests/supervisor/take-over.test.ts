import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test, vi } from 'vitest';

import { parley } from '../cli/parley.ts';
import { useHub } from '../harness/use-hub.ts';
import { HASTY, type Managed, manage } from './managed.ts';
import { openViewer, type Viewer } from './viewer.ts';

vi.setConfig({ testTimeout: 120_000 });
const scene = useHub();
const SOON = { timeout: 30_000, interval: 50 };

async function manageBash(options = HASTY): Promise<Managed> {
  const shell = await manage(scene, ['/bin/bash', '--norc', '-i'], { env: { PS1: 'n=\\# > ' }, options });
  await shell.person.sees('n=1 >');
  return shell;
}

const look = (shell: Managed, as = shell.boss): Promise<Viewer> =>
  openViewer(scene.hub.url, shell.agent, as.token);
const shows = (viewer: Viewer, what: RegExp): Promise<void> =>
  vi.waitFor(() => expect(viewer.rows().join('\n')).toMatch(what), SOON);
const hears = (viewer: Viewer, word: object): Promise<void> =>
  vi.waitFor(() => expect(viewer.said).toContainEqual(expect.objectContaining(word)), SOON);

async function take(viewer: Viewer, more: object = {}): Promise<void> {
  const before = viewer.said.length;
  viewer.say({ type: 'take', ...more });
  await vi.waitFor(() => expect(viewer.said.length).toBeGreaterThan(before), SOON);
  expect(viewer.said.at(-1)).toMatchObject({ type: 'taken' });
}

async function journal(shell: Managed) {
  const { journal_thread_id } = await shell.boss.ok('get_agent', { of_agent: shell.agent });
  const { messages } = await shell.boss.ok('read_messages', {
    thread_id: journal_thread_id ?? '',
    limit: 200,
  });
  return messages;
}

test('a screen is followed as it changes, by what has changed, and one look is on record', async () => {
  const shell = await manageBash();
  const viewer = await look(shell);
  await shows(viewer, /^n=1 >/);
  shell.person.type(String.raw`printf 'a\033[1;31mred\033[0m \346\274\242b\n'` + '\r');
  await shows(viewer, /^ared 漢b$/m);
  const line = viewer.screens.flatMap(({ lines }) => lines).find(([, text]) => text === 'ared 漢b');
  expect(line?.[2]).toBe('1 3;f1;o 1 1;w 1');
  expect(viewer.screens[0]).toMatchObject({ whole: true, cols: 100, rows: 30 });
  expect(viewer.screens.at(-1)?.whole).toBe(false);
  expect(viewer.screens.at(-1)?.lines.length).toBeLessThan(5);
  // A flood costs a few frames and not a frame a line.
  const before = viewer.screens.length;
  shell.person.type('seq 1 200000\r');
  await shows(viewer, /^200000$/m);
  expect(viewer.screens.length - before).toBeLessThan(150);
  const looks = (await journal(shell)).filter(({ body }) => body === 'terminal_watch');
  expect(looks.length).toBe(1);
});

test('the other screen of an editor, its size and its end are followed', async () => {
  const shell = await manageBash();
  const viewer = await look(shell);
  shell.person.type(
    "printf '\\033[?1049h\\033[2J\\033[5;7Hinside\\033[?1h'; read -n1; printf '\\033[?1049l'\r",
  );
  await shows(viewer, /^ {6}inside$/m);
  expect(viewer.rows().join('')).not.toContain('n=1');
  await vi.waitFor(() => expect(viewer.screens.at(-1)?.modes.app_cursor).toBe(true), SOON);
  shell.person.resize(80, 20);
  await vi.waitFor(() => expect(viewer.screens.at(-1)).toMatchObject({ cols: 80, rows: 20 }), SOON);
  shell.person.type('x');
  await shows(viewer, /n=2 >/);
  shell.person.type('exit\r');
  await vi.waitFor(() => expect(viewer.screens.at(-1)?.ended).toBe(true), SOON);
  expect(await viewer.closed).toBe(1000);
});

test('[HUB-W3] keys of whoever has taken over arrive; wakes wait; the person at the machine wins at once', async () => {
  const shell = await manageBash();
  const viewer = await look(shell);
  await shows(viewer, /^n=1 >/);
  viewer.say({ type: 'keys', keys: 'echo too early\r' });
  await take(viewer);
  viewer.say({ type: 'keys', keys: 'echo from-' });
  viewer.say({ type: 'keys', keys: 'afar\r' });
  await shell.person.sees(/^from-afar/m);
  await shows(viewer, /^from-afar/m);
  expect(viewer.screens.at(-1)?.lock).toMatchObject({ holder: 'boss' });
  expect(await shell.deliver('wait for it', { delivery_id: 'w', wait_ms: 300 })).toMatchObject({
    result: 'deferred',
    defer_reason: 'taken_over',
  });
  shell.person.type('echo mine\r');
  await hears(viewer, { type: 'over', ended: 'person' });
  viewer.say({ type: 'keys', keys: 'echo too late\r' });
  await shell.person.sees(/^mine/m);
  await sleep(500);
  const screen = (await shell.person.screen()).join('\n');
  expect(screen).not.toContain('too');
  expect(await shell.deliver('wait for it', { delivery_id: 'w' })).toMatchObject({ result: 'submitted' });

  const kept = JSON.stringify(await journal(shell));
  expect(kept).toContain('terminal_lock');
  expect(kept).toMatch(/boss had taken over the terminal for \d+ s: the person at the machine pressed a key/);
  expect(kept).not.toContain('from-');
  expect(kept).not.toContain('lock_id');
});

test('a terminal has one holder: neither another operator nor another connection of the same', async () => {
  const shell = await manageBash();
  const [first, second] = [await look(shell), await look(shell)];
  const other = await look(shell, scene.as('second', { role: 'operator' }));
  await take(first, { for_ms: 60_000 });
  second.say({ type: 'take' });
  await hears(second, { type: 'refused', code: 'CONFLICT' });
  other.say({ type: 'take' });
  await hears(other, { type: 'refused', code: 'CONFLICT' });
  second.say({ type: 'keys', keys: 'echo stolen\r' });
  // Its holder makes it hold longer, and gives it back.
  await take(first, { for_ms: 600_000 });
  first.say({ type: 'give_back' });
  await hears(first, { type: 'over', ended: 'given_back' });
  await take(second);
  expect((await shell.person.screen()).join('\n')).not.toContain('stolen');
});

test('it ends by itself: when its time is over, and when the viewer is gone', async () => {
  const shell = await manageBash();
  const short = await look(shell);
  await take(short, { for_ms: 1_000 });
  await hears(short, { type: 'over', ended: 'time' });
  short.say({ type: 'keys', keys: 'echo too late\r' });
  const gone = await look(shell);
  await take(gone);
  gone.close();
  await vi.waitFor(async () => expect((await shell.ask('terminal_state')).lock).toBeNull(), SOON);
  await vi.waitFor(async () => {
    const ends = (await journal(shell)).filter(({ body }) => body.includes('had taken over'));
    expect(ends.map(({ body }) => body.split(': ')[1])).toEqual([
      'the time was over',
      'the connection was lost, or the device was signed out',
    ]);
  }, SOON);
  expect((await shell.person.screen()).join('\n')).not.toContain('too late');
});

test('orchestrators may look and not take over; workers, observers and foreigners may not even look', async () => {
  const shell = await manageBash();
  const lead = await look(shell, scene.as('lead', { role: 'orchestrator' }));
  await shows(lead, /^n=1 >/);
  lead.say({ type: 'take' });
  await hears(lead, { type: 'refused', code: 'INSUFFICIENT_AUTHORITY' });
  for (const role of ['worker', 'observer'])
    await expect(look(shell, scene.as(`a-${role}`, { role }))).rejects.toThrow('403');
  const stranger = await openViewer(
    scene.hub.url,
    shell.agent,
    scene.as('boss', { role: 'operator', workspace: 'elsewhere' }).token,
  );
  await hears(stranger, { type: 'nothing', code: 'NOT_FOUND' });
  expect(await stranger.closed).toBe(4404);
  const nonsense = await look(shell);
  nonsense.say({ type: 'type', keys: 'x' } as never);
  await hears(nonsense, { type: 'refused', code: 'VALIDATION_ERROR' });
});

test('a line that was begun at the machine is not taken over, but by force and with a reason', async () => {
  const shell = await manageBash(['--quiet', '60s', '--recheck', '100ms']);
  const viewer = await look(shell);
  shell.person.type('echo ha');
  await shows(viewer, /echo ha$/m);
  viewer.say({ type: 'take' });
  await hears(viewer, { type: 'refused', code: 'HUMAN_INPUT_COLLISION' });
  await take(viewer, { force: { reason: 'the release waits' } });
  viewer.say({ type: 'keys', keys: 'lf\r' });
  await shell.person.sees(/^half/m);
  expect(JSON.stringify(await journal(shell))).toContain('the release waits');
});

test('who has taken over is seen by parley agent show', async () => {
  const shell = await manageBash();
  const viewer = await look(shell);
  await take(viewer);
  await vi.waitFor(async () => {
    const { metadata } = await shell.boss.ok('get_agent', { of_agent: shell.agent });
    expect(metadata).toMatchObject({ taken_over_by: 'boss' });
  }, SOON);
  const env = { PARLEY_URL: scene.hub.url, PARLEY_TOKEN: shell.boss.token };
  const shown = await parley(['agent', 'show', shell.agent], { env });
  expect(shown.stdout).toMatch(/^taken over +by boss until /m);
  viewer.say({ type: 'give_back' });
  await vi.waitFor(async () => {
    const { metadata } = await shell.boss.ok('get_agent', { of_agent: shell.agent });
    expect(metadata).not.toHaveProperty('taken_over_by');
  }, SOON);
});
