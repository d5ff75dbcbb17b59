import { AskContent, type AskVerdict, HUB_NAME } from '@parley/protocol';
import { expect, test } from 'vitest';

import { askOfClaude } from './claude-asks.ts';

const verdict = (given: Partial<AskVerdict>): AskVerdict => ({
  decision: 'approved',
  by: 'ann',
  device: 'tablet',
  at: '2026-01-01T00:00:00.000Z',
  ...given,
});
const rule = {
  type: 'addRules',
  rules: [{ toolName: 'Bash', ruleContent: 'npm test:*' }],
  behavior: 'allow',
  destination: 'localSettings',
};
const mode = { type: 'setMode', mode: 'acceptEdits', destination: 'session' };
const input = { command: 'npm test', description: 'run them' };
const bash = {
  subtype: 'can_use_tool',
  tool_name: 'Bash',
  input,
  description: 'run them',
  permission_suggestions: [rule, mode, { type: 'unheard of' }],
};

test('a permission is an ask with the exact command and its own options; each verdict is put into its words', () => {
  const ask = askOfClaude(bash, '/w');
  const content = AskContent.parse(ask?.content);
  expect(content).toMatchObject({ kind: 'approval', command: 'npm test', cwd: '/w' });
  expect(content.options?.map(({ id, kind }) => [id, kind])).toEqual([
    ['once', 'allow_once'],
    ['grant-1', 'allow_rule'],
    ['grant-2', 'allow_session'],
    ['deny', 'deny'],
    ['stop', 'deny'],
  ]);
  expect(content.options?.[1]?.label).toBe('Allow Bash(npm test:*) always (localSettings)');
  const allowed = { behavior: 'allow', updatedInput: input };
  expect(ask?.response(verdict({ option: 'once' }))).toEqual(allowed);
  expect(ask?.response(verdict({}))).toEqual(allowed);
  expect(ask?.response(verdict({ option: 'grant-1' }))).toEqual({ ...allowed, updatedPermissions: [rule] });
  expect(ask?.response(verdict({ scope: 'session' }))).toEqual({ ...allowed, updatedPermissions: [mode] });
  expect(ask?.response(verdict({ decision: 'denied', reason: 'not now' }))).toEqual({
    behavior: 'deny',
    message: 'not now',
    interrupt: false,
  });
  expect(ask?.response(verdict({ decision: 'denied', option: 'stop' }))).toMatchObject({ interrupt: true });
  for (const nobody of [undefined, verdict({ decision: 'denied', by: HUB_NAME, reason: 'expired' })])
    expect(ask?.response(nobody)).toMatchObject({
      behavior: 'deny',
      message: expect.stringContaining('nobody'),
    });
});

test('an edit is shown whole, and what cannot be shown whole has no content', () => {
  const edit = { subtype: 'can_use_tool', tool_name: 'Write', input: { file_path: '/w/a', content: 'x' } };
  expect(askOfClaude(edit, '/w')?.content?.command).toBe(`Write ${JSON.stringify(edit.input, null, 2)}`);
  const long = { ...edit, input: { ...edit.input, content: 'x'.repeat(20_000) } };
  expect(askOfClaude(long, '/w')?.content).toBeUndefined();
  expect(askOfClaude(long, '/w')?.response(undefined)).toMatchObject({ behavior: 'deny' });
});

test('its questions are asked with their options, several of them as a form', () => {
  const colour = {
    question: 'Which colour?',
    options: [{ label: 'red' }, { label: 'blue' }],
    multiSelect: false,
  };
  const one = { subtype: 'can_use_tool', tool_name: 'AskUserQuestion', input: { questions: [colour] } };
  const ask = askOfClaude(one, '/w');
  expect(AskContent.parse(ask?.content)).toMatchObject({
    kind: 'question',
    options: [{ id: 'red' }, { id: 'blue' }],
  });
  expect(ask?.response(verdict({ decision: 'answered', option: 'blue' }))).toEqual({
    behavior: 'allow',
    updatedInput: { ...one.input, answers: { 'Which colour?': 'blue' } },
  });
  expect(ask?.response(verdict({ decision: 'denied' }))).toMatchObject({ behavior: 'deny' });
  const several = { ...colour, question: 'Which sizes?', multiSelect: true };
  const both = askOfClaude({ ...one, input: { questions: [colour, several] } }, '/w');
  expect(AskContent.parse(both?.content)).toMatchObject({
    kind: 'elicitation',
    schema: { properties: { 'Which sizes?': { type: 'array' } } },
  });
  const data = { 'Which colour?': 'red', 'Which sizes?': ['red', 'blue'] };
  expect(both?.response(verdict({ decision: 'answered', data }))).toMatchObject({
    updatedInput: { answers: { 'Which colour?': 'red', 'Which sizes?': 'red, blue' } },
  });
});

test('a form of an MCP server is filled in, declined or dismissed; anything else is no question', () => {
  const schema = { type: 'object', properties: { name: { type: 'string' } } };
  const ask = askOfClaude({ subtype: 'elicitation', message: 'Who?', requested_schema: schema }, '/w');
  expect(ask?.content).toMatchObject({ kind: 'elicitation', prompt: 'Who?', schema });
  const said = verdict({ decision: 'answered', data: { name: 'ann' } });
  expect(ask?.response(said)).toEqual({ action: 'accept', content: { name: 'ann' } });
  expect(ask?.response(verdict({ decision: 'denied' }))).toEqual({ action: 'decline' });
  expect(ask?.response(undefined)).toEqual({ action: 'cancel' });
  expect(askOfClaude({ subtype: 'hook_callback' }, '/w')).toBeUndefined();
});
