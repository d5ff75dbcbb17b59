import type { ThreadEvent } from '@parley/protocol';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { ThreadLog } from './thread-log.ts';

/** Requests that wait for the answer a test gives them. */
let asked: { path: string; answer: (body: unknown) => void }[] = [];

beforeEach(() => {
  asked = [];
  vi.stubGlobal(
    'fetch',
    (path: string) =>
      new Promise<Response>((resolve) => {
        asked.push({ path, answer: (body) => resolve(Response.json(body)) });
      }),
  );
});
afterEach(() => vi.unstubAllGlobals());

const entry = (seq: number): ThreadEvent => ({
  type: 'message',
  thread: 'th_1',
  from: 'kim',
  to: 'all',
  ts: '2026-01-01T00:00:00.000Z',
  id: `e${seq}`,
  content: `entry ${seq}`,
  meta: { seq },
});
const page = (...seqs: number[]) => ({ events: seqs.map(entry), has_more: false });

test('a row that the thread got while its page was on its way is fetched after it', async () => {
  const log = new ThreadLog('th_1');
  log.reach(1);
  const first = log.ensure(0, 1);
  log.reach(2);
  const second = log.ensure(0, 2);
  asked[0]?.answer(page(0, 1));
  await first;
  await vi.waitFor(() => expect(asked).toHaveLength(2), 20_000);
  asked[1]?.answer(page(0, 1, 2));
  await second;
  expect(log.row(2)?.content).toBe('entry 2');
});

test('what was said here stands once, whether the stream or a page brings it', async () => {
  const log = new ThreadLog('th_1');
  const said = log.say('entry 0');
  asked[0]?.answer({ seq: 0, called: [], not_called: [{ agent: 'builder', why: 'nobody_named' }] });
  await said;
  expect(log.pending.value).toMatchObject([{ text: 'entry 0', seq: 0 }]);
  log.reach(0);
  const fetched = log.ensure(0, 0);
  asked[1]?.answer(page(0));
  await fetched;
  expect(log.pending.value).toEqual([]);
  expect(log.calledNobody).toEqual(new Set([0]));
});
