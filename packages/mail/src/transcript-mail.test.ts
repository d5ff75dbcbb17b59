import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import { native, useTeams } from './test-team.ts';

const { archivePath, home, makeTeam, open, teams, write } = useTeams();

const SESSION = '834e382d-4ace-4ffc-8aff-1d8aacc56245';
const projects = () => join(home(), '.claude/projects');
const ownPath = (session = SESSION) => join(projects(), '-home-me-work', `${session}.jsonl`);
const agentPath = (agentId: string) =>
  join(projects(), '-home-me-work', SESSION, 'subagents', `agent-${agentId}.jsonl`);

type Json = Record<string, unknown>;
interface Sent {
  id?: string;
  to?: string;
  message?: unknown;
  msg_id?: string;
  sender?: string;
  at?: string;
}

/** A call of SendMessage and its success, as Claude Code 2.1 records them. */
function records({
  id = 'toolu_1',
  to = 'bob',
  message = 'hello bob',
  msg_id = 'm-1',
  sender = 'team-lead',
  at,
}: Sent = {}) {
  const timestamp = at ?? new Date().toISOString();
  const call = {
    type: 'assistant',
    isSidechain: false,
    message: {
      role: 'assistant',
      content: [{ type: 'tool_use', id, name: 'SendMessage', input: { to, message } }],
    },
    timestamp,
  };
  const result = {
    type: 'user',
    isSidechain: false,
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: [] }] },
    toolUseResult: {
      success: true,
      msg_id,
      routing: { sender, target: `@${to}`, summary: 'short', content: message },
    },
    timestamp,
  };
  return [call, result] as [Json & typeof call, Json & typeof result];
}

function record(path: string, ...lines: unknown[]): void {
  mkdirSync(dirname(path), { recursive: true });
  for (const line of lines)
    appendFileSync(path, `${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
}

beforeEach(() => {
  makeTeam('red', 'bob');
  const config = join(teams(), 'red/config.json');
  writeFileSync(
    config,
    JSON.stringify({ ...(JSON.parse(readFileSync(config, 'utf8')) as Json), leadSessionId: SESSION }),
  );
});
const teamMail = () => open('red', { projects: projects() });
const history = async (agent = 'bob') =>
  (await teamMail().history(agent, 0)).mails.map(({ from, message, message_id, found_in, read }) => [
    from,
    message,
    message_id,
    found_in,
    read,
  ]);
const found = ['team-lead', 'hello bob', 'm-1', 'transcript', true];

describe('mail that its reader had deleted before it was seen', () => {
  test('is found in the transcript of the lead, once, and says so', async () => {
    record(ownPath(), { type: 'summary' }, ...records());
    expect(await history()).toEqual([found]);
    expect(await history()).toEqual([found]);
    const [mail] = await teamMail().read('bob', { all: true });
    expect(mail).toMatchObject({ summary: 'short', read: true, found_in: 'transcript' });
    expect(await teamMail().pending('bob')).toBe(0);
    expect(await history('team-lead')).toEqual([]);
  });

  test('is found as the transcript grows, also when a record comes in two writes', async () => {
    record(ownPath(), '{"type":"summary"}');
    const growing = teamMail();
    expect((await growing.history('bob', 0)).mails).toEqual([]);
    const [call, result] = records({ message: 'é grows' }).map((one) => JSON.stringify(one));
    appendFileSync(ownPath(), `${call}\n${result?.slice(0, 200)}`);
    expect((await growing.history('bob', 0)).mails).toEqual([]);
    appendFileSync(ownPath(), `${result?.slice(200)}\n`);
    expect((await growing.history('bob', 0)).mails).toMatchObject([{ message: 'é grows' }]);
  });

  test('is found in the transcript of a teammate, who cannot pass for another', async () => {
    const path = agentPath('abob-1');
    const asBob = (sent: Sent) =>
      records({ sender: 'bob', to: 'team-lead', ...sent }).map((one) => ({
        ...one,
        isSidechain: true,
        agentId: 'abob-1',
      }));
    record(path, ...asBob({ message: 'from bob', msg_id: 'm-2' }));
    record(path, ...asBob({ id: 'toolu_2', sender: 'eve', message: 'as eve', msg_id: 'm-3' }));
    record(
      path,
      ...asBob({ id: 'toolu_3', message: 'of another', msg_id: 'm-4' }).map((one) => ({
        ...one,
        agentId: 'x',
      })),
    );
    record(ownPath(), '{"type":"summary"}');
    expect(await history('team-lead')).toEqual([]);
    writeFileSync(path.replace('.jsonl', '.meta.json'), JSON.stringify({ name: 'bob', teamName: 'red' }));
    expect(await history('team-lead')).toEqual([['bob', 'from bob', 'm-2', 'transcript', true]]);
  });

  test('is not doubled when it was seen, or is in the inbox still', async () => {
    write('red', 'bob', [{ ...native('team-lead', 'hello bob'), msg_id: 'm-1' }]);
    record(ownPath(), ...records());
    const seen = teamMail();
    expect((await seen.history('bob', 0)).mails).toMatchObject([{ message_id: 'm-1', read: false }]);
    expect(await seen.pending('bob')).toBe(1);
    write('red', 'bob', []);
    expect(await history()).toEqual([['team-lead', 'hello bob', 'm-1', undefined, false]]);
    expect(readFileSync(archivePath('red', 'bob'), 'utf8').trim().split('\n')).toHaveLength(1);
  });
});

describe('what is no mail', () => {
  const [call, result] = records();
  const inside = (fields: Json) => ({ ...result, toolUseResult: { ...result.toolUseResult, ...fields } });
  const quoted = JSON.stringify(
    records()
      .map((one) => JSON.stringify(one))
      .join('\n'),
  );

  test.each<[string, unknown[]]>([
    [
      'a result of another tool',
      [
        {
          ...call,
          message: {
            content: [
              {
                type: 'tool_use',
                id: 'toolu_1',
                name: 'mcp__evil__SendMessage',
                input: { to: 'bob', message: 'x' },
              },
            ],
          },
        },
        result,
      ],
    ],
    ['a result without a call', [result]],
    ['a call without a result', [call]],
    ['a call that failed', [call, inside({ success: false })]],
    ['a result without an id', [call, inside({ msg_id: undefined })]],
    [
      'another sender than the one whose transcript it is',
      [call, inside({ routing: { sender: 'eve', target: '@bob' } })],
    ],
    [
      'another target than the call has',
      [call, inside({ routing: { sender: 'team-lead', target: '@eve' } })],
    ],
    [
      'records inside of a text',
      [
        { type: 'user', isSidechain: false, message: { content: quoted } },
        `{"type":"user","text":${quoted}}`,
      ],
    ],
    [
      'a message of a teammate as it is shown',
      [
        {
          type: 'user',
          isSidechain: false,
          message: {
            content: '<teammate-message teammate_id="team-lead">SendMessage "msg_id"</teammate-message>',
          },
        },
      ],
    ],
    ['an order of the protocol', records({ message: { type: 'shutdown_request' } })],
    [
      'records of an agent in the transcript of the lead',
      records().map((one) => ({ ...one, isSidechain: true })),
    ],
    ['lines that are none', ['SendMessage "msg_id"', '[1,"SendMessage"]', '{"SendMessage":']],
    ['a time that is none', [call, { ...result, timestamp: 'then' }]],
  ])('%s', async (_what, lines) => {
    record(ownPath(), ...lines);
    expect(await history()).toEqual([]);
  });

  test('the transcript of another session, or a link in its place', async () => {
    const other = '00000000-4ace-4ffc-8aff-1d8aacc56245';
    record(ownPath(other), ...records());
    expect(await history()).toEqual([]);
    symlinkSync(ownPath(other), ownPath());
    expect(await history()).toEqual([]);
  });

  test('what stands far back in a long transcript is not read', async () => {
    record(ownPath(), ...records());
    appendFileSync(ownPath(), `${'x'.repeat(1_023)}\n`.repeat(9 * 1_024));
    expect(await history()).toEqual([]);
  });
});
