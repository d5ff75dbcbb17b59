import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';

import { expect, test } from 'vitest';

import { freshPath, parley, parleyJson, startHub } from './parley.ts';

interface Played {
  thread_id: string;
  status: string;
  summary: string;
  open_items: unknown[];
  messages: { seq: number; sender_agent_id: string; metadata?: { event_type?: string } }[];
  receipts: { seq: number; read_by: string[]; unread_by: string[] }[];
}

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
  const played = await parleyJson<Played>(['demo', '--data', data]);
  expect(played).toMatchObject({ status: 'resolved', open_items: [] });
  expect(played.messages.map(({ seq }) => seq)).toEqual(played.messages.map((_, i) => i + 1));
  expect(played.messages.flatMap(({ metadata }) => metadata?.event_type ?? [])).toEqual(COURSE);
  expect(new Set(played.messages.map((message) => message.sender_agent_id))).toEqual(
    new Set(['coordinator_agent', 'reviewer_agent', 'executioner_agent']),
  );
  expect(played.summary).toContain('2 findings reported (1 high, 1 low), 2 verified. Commits: abc1234.');
  expect(played.receipts[0]).toMatchObject({ seq: 2, unread_by: [] });
  expect(played.receipts[1]?.unread_by).toEqual(['executioner_agent', 'reviewer_agent']);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('parley-demo-'))).toEqual([]);
});

test('on a running hub it stays in a workspace of its own, and the printed commands work', async () => {
  const hub = await startHub();
  const { stdout, stderr, code } = await parley(['demo', '--fast', '--data', hub.data]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('[finding_reported high user_mapper.dart:42]');
  expect(stdout).toContain('half way: 3 items open');
  expect(stdout).toContain('resolved, nothing is open');
  expect(await parleyJson(['thread', 'ls', '--data', hub.data])).toMatchObject({ threads: [] });
  const printed = [...stdout.matchAll(/^ {2}.*parley\S* --data \S+ (tail|why) (.+)$/gm)];
  expect(printed).toHaveLength(2);
  for (const [, command = '', rest = ''] of printed) {
    const again = await parley([command, ...rest.split(' '), '--data', hub.data]);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('Blocking issue found');
  }
  await hub.stop();
});
