import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type InputOf, ParleyError } from '@parley/protocol';
import type { RecordedSession } from '@parley/runtimes';
import { lockFile } from '@parley/store-sqlite';
import { expect, onTestFinished, test } from 'vitest';

import { openUsageReporter, type UsageReporter } from './usage-reporter.ts';

type Report = InputOf<'report_usage'>;

const ID = '0b9c2f64-5a4e-4c1d-9d54-6f2f6a0a7c11';
const THREAD = 'th_01M7R35W17FMMYMMX99QQSZ0XC';
const WAKE = `[parley] bob, you have unread messages in thread ${THREAD} from alice (wake wk_1, asked for by alice).`;

/** A Claude Code with one session, and a hub that hears or does not. */
function scene() {
  const root = mkdtempSync(join(tmpdir(), 'usage-'));
  const home = join(root, '.claude');
  const folder = join(root, 'data', 'usage', 'w');
  const project = join(home, 'projects', '-work');
  mkdirSync(project, { recursive: true });
  const heard: Report[] = [];
  const open: UsageReporter[] = [];
  const hub = { answer: async (report: Report): Promise<unknown> => heard.push(report) };
  let messages = 0;
  onTestFinished(async () => {
    await Promise.all(open.map((one) => one.close()));
    rmSync(root, { recursive: true });
  });
  const session: RecordedSession = { runtime: 'claude_code', home, id: ID };
  const write = (line: object, file = `${ID}.jsonl`): void =>
    appendFileSync(join(project, file), `${JSON.stringify(line)}\n`);
  return {
    folder,
    heard,
    hub,
    session,
    write,
    kept: () => readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1')),
    reporter: (sessions: RecordedSession[] = [session], agent = 'bob'): UsageReporter => {
      const reporter = openUsageReporter({
        folder,
        home,
        lock: (path) => lockFile(path, 0),
        agent: async () => agent,
        sessions: async () => sessions,
        tell: (report) => hub.answer(report),
        after: '2030-01-01T00:00:00.000Z',
        onFault: () => {},
      });
      open.push(reporter);
      return reporter;
    },
    /** A turn of one request. */
    turn: ({
      prompt = 'remember the word melon',
      day = '2030-01-02',
      file = `${ID}.jsonl`,
      last = 'end_turn',
    } = {}): void => {
      const n = ++messages;
      const timestamp = `${day}T10:00:00.00${n}Z`;
      write({ type: 'user', promptId: `p${n}`, timestamp, message: { role: 'user', content: prompt } }, file);
      const usage = { input_tokens: 10, output_tokens: n };
      const message = { id: `msg_${n}`, model: 'claude-x', usage, stop_reason: last, content: 'melon' };
      write({ type: 'assistant', requestId: `req_${n}`, timestamp, message }, file);
    },
  };
}

const twice = async (reporter: UsageReporter): Promise<void> => {
  await reporter.look();
  await reporter.look();
};

test('a turn is told once, with its day, over looks and restarts; what is kept holds no text', async () => {
  const { reporter, turn, heard, kept } = scene();
  turn();
  const first = reporter();
  await twice(first);
  const told = {
    model: 'claude-x',
    input_tokens: 10,
    output_tokens: 1,
    day: '2030-01-02',
    idempotency_key: 'claude msg_1 req_1',
  };
  expect(heard).toEqual([told]);
  await twice(first);
  await first.close();
  const second = reporter();
  await twice(second);
  expect(heard).toEqual([told]);
  turn({ prompt: WAKE, day: '2030-01-03' });
  await twice(second);
  expect(heard.slice(1)).toEqual([
    {
      ...told,
      output_tokens: 2,
      day: '2030-01-03',
      thread_id: THREAD,
      idempotency_key: 'claude msg_2 req_2',
    },
  ]);
  expect(kept().join('\n')).not.toContain('melon');
});

test('a hub that is away hears it later, under the same key, also from another process', async () => {
  const { reporter, turn, heard, hub } = scene();
  const tried: Report[] = [];
  hub.answer = async (report) => {
    tried.push(report);
    throw new ParleyError('UNAVAILABLE', 'no hub answers');
  };
  turn();
  const first = reporter();
  await twice(first);
  await first.close();
  expect(tried.length).toBeGreaterThan(1);
  hub.answer = async (report) => heard.push(report);
  await twice(reporter());
  expect(heard).toEqual([tried[0]]);
});

test('an answer that was lost is asked for again under the same key, and that is all', async () => {
  const { reporter, turn, heard, hub } = scene();
  let lost = 1;
  hub.answer = async (report) => {
    heard.push(report);
    if (lost-- > 0) throw new Error('socket hang up');
  };
  turn();
  const one = reporter();
  await twice(one);
  await twice(one);
  expect(heard.map(({ idempotency_key }) => idempotency_key)).toEqual(Array(2).fill('claude msg_1 req_1'));
});

test('what the hub refuses for good is not told for ever, and a thread it is no part of is left out', async () => {
  const { reporter, turn, heard, hub } = scene();
  let asked = 0;
  hub.answer = async (report) => {
    asked += 1;
    if (report.thread_id !== undefined) throw new ParleyError('NOT_FOUND', 'no such thread');
    if (report.output_tokens === 2) throw new ParleyError('IDEMPOTENCY_CONFLICT', 'used already');
    heard.push(report);
  };
  turn({ prompt: WAKE });
  turn();
  const one = reporter();
  await twice(one);
  await twice(one);
  expect(heard.map(({ output_tokens }) => output_tokens)).toEqual([1]);
  expect(asked).toBe(3);
});

test('two processes beside one session tell each turn once', async () => {
  const { reporter, turn, heard } = scene();
  const both = [reporter(), reporter()];
  for (let i = 0; i < 5; i++) {
    turn();
    await Promise.all(both.map(twice));
  }
  const keys = heard.map(({ idempotency_key }) => idempotency_key);
  expect(new Set(keys).size).toBe(5);
});

test('a session whose process is gone is told by the next one, its broken turn too', async () => {
  const { reporter, turn, heard, session } = scene();
  turn();
  const first = reporter();
  await first.look();
  await first.close();
  turn({ last: 'tool_use' });
  const elsewhere = { ...session, id: '0b9c2f64-5a4e-4c1d-9d54-000000000000' };
  await twice(reporter([elsewhere]));
  expect(heard.map(({ output_tokens }) => output_tokens)).toEqual([1, 2]);
});

test('a turn of a subagent is one of its own; a turn that goes on is not told before it is over', async () => {
  const { reporter, turn, heard, session, folder } = scene();
  mkdirSync(join(session.home, 'projects', '-work', ID, 'subagents'), { recursive: true });
  turn({ last: 'tool_use' });
  turn({ file: join(ID, 'subagents', 'agent-a1.jsonl') });
  const one = reporter();
  await twice(one);
  expect(heard.map(({ output_tokens }) => output_tokens)).toEqual([2]);
  turn();
  await twice(one);
  expect(heard.map(({ output_tokens }) => output_tokens)).toEqual([2, 1, 3]);
  // What cannot be read is begun anew, and tells nothing twice under another key.
  for (const name of readdirSync(folder)) if (name.endsWith('.json')) writeFileSync(join(folder, name), '{');
  await twice(one);
  expect(new Set(heard.map(({ idempotency_key }) => idempotency_key)).size).toBe(3);
});
