import { expect, onTestFinished, test } from 'vitest';

import { createDoor } from './door.ts';
import { openPty } from './open-pty.ts';
import { openScreen } from './open-screen.ts';
import { createTyping } from './typing.ts';

const SIZE = { cols: 80, rows: 24 };
const PATIENCE = { recheckMs: 100, quietMs: 60_000, maxDeferMs: 600_000, expireMs: 600_000 };

/** The door of a program that writes nothing of itself. */
async function openDoor() {
  const screen = openScreen({ ...SIZE, reply: () => {}, answers: false });
  const pty = await openPty({
    file: '/bin/cat',
    args: [],
    env: {},
    cwd: '/',
    ...SIZE,
    onOutput: (bytes) => void screen.write(bytes),
  });
  onTestFinished(async () => {
    pty.signal('SIGKILL');
    await pty.exited;
  });
  const now = (): number => performance.now();
  const typing = createTyping(now);
  const door = createDoor({
    pty,
    screen,
    kind: 'prompt',
    program: 'cat',
    typing,
    patience: PATIENCE,
    holdKeys: () => () => {},
    hindrance: () => undefined,
    now,
    wallClock: Date.now,
  });
  return { door, screen, typing };
}

test('who asks and does not wait is told what is in the way, also while the screen is still being drawn', async () => {
  const { door, screen, typing } = await openDoor();
  // Takes paste, and has more to draw than is done at once.
  screen.write(Buffer.from('\u001b[?2004h'));
  for (let row = 0; row < 2_000; row++)
    screen.write(Buffer.from(`${'\u001b[1mword \u001b[0m'.repeat(40)}\r\n`));
  typing.note({ kind: 'key', text: 'x' });
  const told = await door.deliver({ delivery_id: 'one', text: 'hello', mode: 'when_quiet' }, 0);
  expect(told).toMatchObject({ result: 'deferred', defer_reason: 'human_input_busy' });
  expect(Date.parse(told.deferred_until ?? '')).toBeGreaterThan(Date.now() + PATIENCE.quietMs - 20_000);
});
