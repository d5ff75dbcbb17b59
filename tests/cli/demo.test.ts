import { mkdirSync, readdirSync } from 'node:fs';

import { beforeAll, expect, test } from 'vitest';

import { freshPath, parley, parleyJson, startHub, type TestHub } from './parley.ts';

interface Played {
  thread_id: string;
  status: string;
  summary: string;
  open_items: unknown[];
  messages: { seq: number; sender_agent_id: string; metadata?: { event_type?: string } }[];
  receipts: { seq: number; read_by: string[]; unread_by: string[] }[];
}

let hub: TestHub;
beforeAll(async () => {
  hub = await startHub();
});

const COURSE = [
  'finding_reported',
  'finding_reported',
  'fix_pushed',
  're_review_requested',
  'finding_verified',
  'finding_verified',
  'thread_resolved',
  'thread_status_changed',
];

test('without a hub the demo brings its own and leaves nothing behind', async () => {
  const data = freshPath();
  const temporary = freshPath('tmp');
  mkdirSync(temporary);
  const played = await parleyJson<Played>(['demo', '--data', data], { env: { TMPDIR: temporary } });
  expect(played).toMatchObject({ status: 'resolved', open_items: [] });
  expect(played.messages.map(({ seq }) => seq)).toEqual(played.messages.map((_, i) => i + 1));
  expect(played.messages.flatMap(({ metadata }) => metadata?.event_type ?? [])).toEqual(COURSE);
  expect(new Set(played.messages.map((message) => message.sender_agent_id))).toEqual(
    new Set(['coordinator_agent', 'reviewer_agent', 'executioner_agent']),
  );
  expect(played.summary).toContain('2 findings reported (1 high, 1 low), 2 verified. Commits: abc1234.');
  expect(played.receipts[0]).toMatchObject({ seq: 2, unread_by: [] });
  expect(played.receipts[1]?.unread_by).toEqual(['executioner_agent', 'reviewer_agent']);
  expect(readdirSync(temporary)).toEqual([]);
});

test(
  'on a running hub it plays before the eyes of the person, leaves a question, and the printed commands work',
  { timeout: 180_000 },
  async () => {
    const { stdout, stderr, code } = await parley(['demo', '--fast', '--data', hub.data]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('[finding_reported high user_mapper.dart:42]');
    expect(stdout).toContain('half way: 3 items open');
    expect(stdout).toContain('resolved, nothing is open');
    // What the dashboard's first page is made of: an unread thread, and an ask that waits.
    const { threads } = await parleyJson<{ threads: { unread: number }[] }>([
      'thread',
      'ls',
      '--unread',
      '--data',
      hub.data,
    ]);
    expect(threads).toMatchObject([{ title: 'Profile mapper review loop' }]);
    expect(threads[0]?.unread).toBeGreaterThan(5);
    const { asks } = await parleyJson<{ asks: { ask_id: string }[] }>(['ask', 'ls', '--data', hub.data]);
    expect(asks).toMatchObject([{ agent_id: 'reviewer_agent', kind: 'question', status: 'open' }]);
    const answered = await parley([
      'ask',
      'answer',
      asks[0]?.ask_id ?? '',
      '--option',
      'Yes, ask me',
      '--data',
      hub.data,
    ]);
    expect(answered.code, answered.stderr).toBe(0);
    const printed = [...stdout.matchAll(/^ {2}.*parley\S* --data \S+ (tail|why) (.+)$/gm)];
    expect(printed).toHaveLength(2);
    for (const [, command = '', rest = ''] of printed) {
      const again = await parley([command, ...rest.split(' '), '--data', hub.data]);
      expect(again.code).toBe(0);
      expect(again.stdout).toContain('Blocking issue found');
    }
    const apart = await parleyJson<{ workspace: string }>([
      'demo',
      '--workspace',
      'demo',
      '--data',
      hub.data,
    ]);
    expect(apart.workspace).toBe('demo');
    expect(
      (await parleyJson<{ threads: unknown[] }>(['thread', 'ls', '--data', hub.data])).threads,
    ).toHaveLength(1);
  },
);

test(
  'a second hub beside a running one says what runs where, and what to do; the first goes on',
  { timeout: 120_000 },
  async () => {
    const { code, stderr } = await parley(['serve', '--data', hub.data]);
    expect(code).toBe(1);
    expect(stderr).toContain(`another hub is running on ${hub.data}: ${hub.url}, process ${hub.pid}`);
    for (const line of [
      /its dashboard +\S.* link$/m,
      /what goes on +\S.* status$/m,
      /serve --data ANOTHER-FOLDER --port 0$/m,
    ])
      expect(stderr).toMatch(line);
    expect(stderr).toContain(`kill ${hub.pid}`);
    const json = await parley(['serve', '--data', hub.data, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      error: { code: 'CONFLICT', details: { url: hub.url, pid: hub.pid } },
    });
    // The same port, another folder: what holds it cannot be known, but what to do can.
    const other = await parley(['serve', '--data', freshPath(), '--port', new URL(hub.url).port]);
    expect(other).toMatchObject({ code: 1, stdout: '' });
    expect(other.stderr).toMatch(/port \d+ is taken; choose another with --port/);
    expect((await fetch(`${hub.url}/healthz`)).status).toBe(200);
  },
);
