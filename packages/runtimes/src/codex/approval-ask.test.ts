import type { AskVerdict } from '@parley/protocol';
import { AskContent, HUB_NAME } from '@parley/protocol';
import { describe, expect, test } from 'vitest';

import { askOf, decisionOfVerdict } from './approval-ask.ts';
import type { ApprovalRequest } from './backend.ts';

const request = (given: Partial<ApprovalRequest>): ApprovalRequest => ({
  id: '1',
  threadId: 't',
  turnId: undefined,
  kind: 'command',
  options: [],
  raw: { method: 'x', params: {} },
  respond: () => true,
  ...given,
});
const verdict = (given: Partial<AskVerdict>): AskVerdict => ({
  decision: 'approved',
  by: 'ann',
  device: 'tablet',
  at: '2026-01-01T00:00:00.000Z',
  ...given,
});
const colour = {
  kind: 'user_input' as const,
  questions: [{ id: 'colour', question: 'Which?', options: ['red', 'blue'] }],
};

describe('an approval as an ask', () => {
  test.each([
    ['a command', request({ command: 'make', cwd: '/w' }), { kind: 'approval', command: 'make', cwd: '/w' }],
    [
      'a patch',
      request({ kind: 'patch', changes: [{ path: 'a', type: 'update', diff: '+x' }] }),
      { kind: 'approval', command: 'update a\n+x' },
    ],
    [
      'a patch too long to be shown',
      request({ kind: 'patch', changes: [{ path: 'a', type: 'add', diff: 'x'.repeat(99_999) }] }),
      { command: expect.stringMatching(/too long[^]*add a$/) },
    ],
    [
      'permissions',
      request({ kind: 'permissions', raw: { method: 'x', params: { network: true } } }),
      { command: '{"network":true}' },
    ],
    [
      'a question with options',
      request(colour),
      { kind: 'question', options: [{ id: 'red' }, { id: 'blue' }] },
    ],
    [
      'two questions',
      request({
        ...colour,
        questions: [...colour.questions, { id: 'size', question: 'How big?', options: [] }],
      }),
      { kind: 'elicitation', schema: { properties: { colour: { enum: ['red', 'blue'] }, size: {} } } },
    ],
    [
      'a form of an MCP server',
      request({
        kind: 'mcp_elicitation',
        raw: { method: 'x', params: { message: 'Name?', requestedSchema: { type: 'object' } } },
      }),
      { kind: 'elicitation', prompt: 'Name?', schema: { type: 'object' } },
    ],
    ['a long question', request({ command: 'make', reason: '\0é'.repeat(9_000) }), { command: 'make' }],
  ])('%s', (_name, asked, expected) => {
    const ask = askOf(asked);
    expect(AskContent.parse(ask)).toMatchObject(expected);
  });

  test.each(['x'.repeat(20_000), 'a\0b', 'a\uD800b'])(
    'a command that cannot be shown whole is not put to anyone',
    (command) => {
      expect(askOf(request({ command }))).toBeUndefined();
    },
  );
});

describe('a verdict as the answer to Codex', () => {
  test.each([
    [{}, request({}), 'accept'],
    [{ option: 'once' }, request({}), 'accept'],
    [{ scope: 'session' }, request({}), 'accept_for_session'],
    [{ option: 'session' }, request({ kind: 'patch' }), 'accept_for_session'],
    [{ decision: 'denied' }, request({}), 'decline'],
    [{ decision: 'denied', reason: 'no' }, request({}), { text: 'no' }],
    [{ decision: 'denied', reason: 'time', by: HUB_NAME }, request({}), 'decline'],
    [{ decision: 'denied', reason: 'no' }, request(colour), 'decline'],
    [{ decision: 'answered', option: 'red' }, request(colour), { answers: { colour: ['red'] } }],
    [{ decision: 'answered', text: 'green' }, request(colour), { answers: { colour: ['green'] } }],
    [
      { decision: 'answered', data: { colour: ['a', 1] } },
      request(colour),
      { answers: { colour: ['a', '1'] } },
    ],
    [{ decision: 'answered', data: { n: 1 } }, request({ kind: 'mcp_elicitation' }), { content: { n: 1 } }],
    [{ decision: 'withdrawn' }, request({}), undefined],
  ] as const)('%j', (given, asked, expected) => {
    expect(decisionOfVerdict(asked, verdict(given as Partial<AskVerdict>))).toEqual(expected);
  });
});
