import { expect, test } from 'vitest';

import { openScreen } from '@parley/runtimes/screen';

import { createScreenWatch } from './screen-watch.ts';

function open(cols = 20, rows = 5) {
  const screen = openScreen({ cols, rows, answers: false, reply: () => {} });
  const watch = createScreenWatch({
    screen,
    beside: () => ({ state: { state: 'idle', source: 'output' }, lock: null }),
    now: () => performance.now(),
    newId: () => 'abcdefgh-1',
  });
  const write = (text: string): void => {
    screen.write(Buffer.from(text));
    watch.note();
  };
  return { screen, watch, write };
}

test('who asks first gets all, then what has changed, and nothing when nothing has', async () => {
  const { watch, write } = open();
  write('one\r\ntwo\r\n');
  const first = await watch.next(undefined, 0);
  expect(first).toMatchObject({
    whole: true,
    cols: 20,
    rows: 5,
    lines: [
      [0, 'one', ''],
      [1, 'two', ''],
    ],
    cursor: { x: 0, y: 2 },
  });
  const waiting = watch.next(first.version, 5_000);
  setTimeout(() => write('\u001b[2;1H\u001b[32mTWO\u001b[m'), 20);
  const second = await waiting;
  expect(second).toMatchObject({ whole: false, lines: [[1, 'TWO', '3;f2']], cursor: { x: 3, y: 1 } });
  const third = await watch.next(second.version, 60);
  expect(third).toMatchObject({ whole: false, lines: [], version: second.version });
});

test('an older version gets what it has missed, an unknown one all', async () => {
  const { watch, write } = open();
  write('a');
  const { version } = await watch.next(undefined, 0);
  write('\r\nb');
  await watch.next(version, 1_000);
  write('\r\nc');
  const late = await watch.next(version, 1_000);
  expect(late.lines.map(([y]) => y)).toEqual([1, 2]);
  expect((await watch.next('another.3', 0)).whole).toBe(true);
  expect((await watch.next('abcdefgh.999', 0)).whole).toBe(true);
});

test('a flood is told in few answers, and a screen too large for one answer in several', async () => {
  const { watch, write, screen } = open(400, 200);
  const { version } = await watch.next(undefined, 0);
  let last = version;
  let count = 0;
  const until = performance.now() + 400;
  while (performance.now() < until) {
    const asked = watch.next(last, 1_000);
    write('x'.repeat(500));
    last = (await asked).version;
    count++;
  }
  expect(count).toBeLessThan(25);

  // Every cell in another colour.
  const noise = Array.from({ length: 200 }, (_, y) =>
    Array.from({ length: 100 }, (__, x) => `\u001b[38;2;${x};${y};7mx`).join(''),
  ).join('\r\n');
  write(`\u001b[H${noise}`);
  await screen.settled();
  const rows = new Map<number, string>();
  for (let answers = 0; rows.size < 200 && answers < 40; answers++) {
    const news = await watch.next(last, 1_000);
    expect(JSON.stringify(news).length).toBeLessThan(120_000);
    for (const [y, text] of news.lines) rows.set(y, text);
    last = news.version;
  }
  expect(rows.size).toBe(200);
});

test('when the program ends nobody waits any longer', async () => {
  const { watch } = open();
  const { version } = await watch.next(undefined, 0);
  const waiting = watch.next(version, 20_000);
  setTimeout(() => watch.end(), 20);
  expect(await waiting).toMatchObject({ ended: true });
  expect(await watch.next(version, 20_000)).toMatchObject({ ended: true });
});
