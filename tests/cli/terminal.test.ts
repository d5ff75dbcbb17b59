import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { shownLength } from '@parley/protocol';
import { beforeAll, expect, test } from 'vitest';

import { pictureOf } from '../../packages/hub/src/cli/picture.ts';
import {
  bareEnvironment,
  freshPath,
  issueToken,
  PARLEY,
  parley,
  parleyJson,
  startHub,
  type TestHub,
} from './parley.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** What a QR code is drawn with. */
const PICTURE = /[▀▄█]{3}/;

let hub: TestHub;
beforeAll(async () => {
  hub = await startHub();
});

const ESCAPE = '\u001b[';

/** Runs a command at a terminal, with Ctrl-C once `until` is on the screen. */
async function atTerminal(
  command: string,
  env: Record<string, string> = {},
  until?: string,
): Promise<string> {
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    env: bareEnvironment({ TERM: 'xterm', ...env }),
  });
  let screen = '';
  let pressed = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    if (until === undefined || pressed || !screen.includes(until)) return;
    pressed = true;
    child.stdin.write('\u0003');
  });
  await once(child, 'close');
  return screen;
}

test('the first screen of serve is calm and its commands carry the folder', async () => {
  const data = freshPath();
  const serve = `node '${PARLEY}' serve --port 0 --data '${data}'`;
  const screen = await atTerminal(serve, {}, 'Ctrl-C');
  expect(screen).toContain('HTTP    http://127.0.0.1:');
  expect(screen).not.toContain('"level"');
  expect(screen).toContain(`--data ${data} demo`);
  expect(screen).toContain(ESCAPE);
  // No picture of an address that no other device reaches.
  expect(screen).not.toMatch(PICTURE);
});

test('a QR code is shown for the local network, and none for a loopback address', async () => {
  const data = freshPath();
  const lan = '--lan --set lan.address=127.0.0.2 lan.name=desk.local lan.port=0 lan.setup_port=0';
  const screen = await atTerminal(
    `node '${PARLEY}' serve --no-color --port 0 --data '${data}' ${lan}`,
    {},
    'Ctrl-C',
  );
  const rows = screen.split(/\r?\n/);
  const [setup = ''] = /http:\/\/127\.0\.0\.2:\d+/.exec(screen) ?? [];
  const [link = ''] = /https:\/\/127\.0\.0\.2:\d+\/#k=[\w-]+/.exec(screen) ?? [];
  for (const text of [setup, link]) {
    const picture = await pictureOf(text);
    const at = rows.indexOf(picture[4] ?? '');
    expect(text).not.toBe('');
    expect(rows.slice(at - 4, at - 4 + picture.length)).toEqual(picture);
  }
  // In two lines, each of which fits a terminal.
  expect(screen).toMatch(
    /^ +(?:\S*m)?(?:[0-9A-F]{2}:){16}(?:\S*m)?\r?\n +(?:\S*m)?(?:[0-9A-F]{2}:){15}[0-9A-F]{2}/m,
  );
  const paired = await atTerminal(`node '${PARLEY}' pair --data '${hub.data}'`);
  expect(paired).toContain('serve --lan');
  expect(paired).not.toMatch(PICTURE);
});

test('started by npm it prints a command that works without npm, and no name that npm would look up; the log is shown when it is asked for', async () => {
  const screen = await atTerminal(
    `node '${PARLEY}' serve --log-level info --port 0 --data '${freshPath()}'`,
    { npm_command: 'start', PATH: `${root}node_modules/.bin:${process.env['PATH'] ?? ''}` },
    'Ctrl-C',
  );
  expect(screen).toContain('./parley --data');
  expect(screen).not.toContain('npx');
  expect(screen).toContain('"stopping"');
});

test('colour only at a terminal, and not when it is unwanted', async () => {
  const status = `node '${PARLEY}' status --data '${hub.data}'`;
  const shown = [
    await atTerminal(status),
    await atTerminal(status, { NO_COLOR: '1' }),
    await atTerminal(`${status} --no-color`),
    (await parley(['status', '--data', hub.data])).stdout,
  ];
  for (const screen of shown) expect(screen).toContain(hub.url);
  expect(shown.map((screen) => screen.includes(ESCAPE))).toEqual([true, false, false, false]);
});

test('a file of others, or the whole record, acts on no terminal; in a pipe it comes out as it went in', async () => {
  const { url, data } = hub;
  const evil = 'first\u001b]0;owned\u0007\u009b2J\u202etxt\u{e0041}.\nsecond\n';
  const file = freshPath('note.txt');
  writeFileSync(file, evil);
  const env = { PARLEY_URL: url, PARLEY_TOKEN: await issueToken(data, 'alice', 'orchestrator') };
  const put = await parleyJson<{ artifact: { artifact_id: string } }>(['artifact', 'put', file], { env });
  const { thread_id } = await parleyJson<{ thread_id: string }>(['thread', 'new', 'evil'], { env });
  await parleyJson(['post', thread_id, '-'], { env, input: evil });
  const get = ['artifact', 'get', put.artifact.artifact_id];
  expect((await parley(get, { env })).stdout).toBe(evil);
  const record = (await parley(['export', '--data', data])).stdout;
  expect(record).toContain(JSON.stringify(evil.trimEnd()).slice(1, -1));
  for (const args of [get, ['export', '--data', data]]) {
    const screen = await atTerminal(`node '${PARLEY}' ${args.join(' ')} 2>/dev/null`, env);
    expect(screen).toMatch(/first.*owned.*\\u\{202e\}txt\\u\{e0041\}\./);
    expect(screen).not.toMatch(/[^\P{Cc}\r\n\t]|[\u202e\u{e0041}]/u);
  }
});

test(
  'tables fit a terminal of any width, one that knows none has 80 columns, and threads have short ids there',
  { timeout: 180_000 },
  async () => {
    const data = ['--data', hub.data];
    const title = `${'a very long title '.repeat(8)}設計設計設計設計`;
    const { thread_id } = await parleyJson<{ thread_id: string }>(['thread', 'new', title, ...data]);
    await parleyJson(['post', thread_id, `pomegranate ${'and so on '.repeat(20)}`, ...data]);
    await parleyJson(['know', 'put', 'Fruit', ...data], {
      input: `# Fruit\n\nA pomegranate.\n\n${'x '.repeat(200)}`,
    });
    const short = thread_id.slice(-10, -4);
    const tables = ['thread ls', 'search pomegranate', 'know search pomegranate', 'config', 'slo', 'know ls'];
    const asked = (words: string): string =>
      `node '${PARLEY}' --no-color ${words} ${data.join(' ')} 2>/dev/null; echo ----`;
    for (const [columns, commands] of [
      [0, tables.slice(0, 2)],
      [40, tables],
      [120, tables],
    ] as const) {
      const lines = commands.map(asked).join('; ');
      const screens = (await atTerminal(`sh -c "stty cols ${columns}; ${lines}"`)).split(/^----\r?$/m);
      for (const [i, words] of commands.entries()) {
        const rows = (screens[i] ?? '').split(/\r?\n/).filter((row) => row !== '');
        expect(rows.length).toBeGreaterThan(0);
        // The answer itself is prose, which the terminal breaks.
        const table = words.startsWith('know search') ? rows.filter((row) => row.startsWith('[')) : rows;
        for (const row of table)
          expect([words, columns, row, shownLength(row) <= (columns || 80)]).toEqual([
            words,
            columns,
            row,
            true,
          ]);
        if (/^(thread|search)/.test(words))
          expect([words, columns, rows.filter((row) => row.startsWith(short))]).not.toEqual([
            words,
            columns,
            [],
          ]);
      }
    }
    const piped = await parley(['search', 'pomegranate', ...data]);
    expect(piped.stdout).toContain(thread_id);
  },
);
