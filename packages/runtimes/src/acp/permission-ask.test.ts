import type { AskVerdict } from '@parley/protocol';
import { expect, test } from 'vitest';

import { askOfPermission, outcomeOf } from './permission-ask.ts';
import type { ToolCall } from './tool-calls.ts';

const once = { optionId: 'o', kind: 'allow_once', name: 'Once' } as const;
const always = { optionId: 'a', kind: 'allow_always', name: 'Always' } as const;
const never = { optionId: 'n', kind: 'reject_always', name: 'Never' } as const;
const reject = { optionId: 'r', kind: 'reject_once', name: 'No' } as const;
const ALL = [once, always, never, reject];

const verdict = (more: Partial<AskVerdict>): AskVerdict => ({
  decision: 'approved',
  by: 'ann',
  device: 'd',
  at: '2030-01-01T00:00:00Z',
  ...more,
});
const chosen = (optionId: string) => ({ outcome: 'selected', optionId });
const CANCELLED = { outcome: 'cancelled' };

test.each([
  ['the option that was chosen', ALL, verdict({ option: 'a' }), chosen('a')],
  ['approved is once', ALL, verdict({}), chosen('o')],
  ['approved for the session', ALL, verdict({ scope: 'session' }), chosen('a')],
  [
    'approved for the session, where only once is offered',
    [once, reject],
    verdict({ scope: 'rule' }),
    chosen('o'),
  ],
  ['approved is never widened to always', [always, reject], verdict({}), CANCELLED],
  ['denied', ALL, verdict({ decision: 'denied' }), chosen('r')],
  ['denied, where only for ever is offered', [once, never], verdict({ decision: 'denied' }), chosen('n')],
  ['denied, where no refusal is offered', [once], verdict({ decision: 'denied' }), CANCELLED],
  ['nobody answered', ALL, undefined, chosen('r')],
  ['withdrawn', ALL, verdict({ decision: 'withdrawn' }), CANCELLED],
])('%s', (_name, options, said, outcome) => {
  expect(outcomeOf(options, said)).toEqual(outcome);
});

const call: ToolCall = { title: 'make', kind: 'execute', status: 'pending', command: 'make', cwd: undefined };

test.each([
  ['a command that is too long', ALL, { ...call, command: 'x'.repeat(16_001) }],
  ['a command that cannot be kept', ALL, { ...call, command: 'a\u0000b' }],
  ['no options', [], call],
  ['two options of one id', [once, { ...reject, optionId: 'o' }], call],
  ['an option that is too long', [{ ...once, name: 'x'.repeat(201) }], call],
  [
    'more options than can be shown',
    Array.from({ length: 17 }, (_, i) => ({ ...once, optionId: `${i}` })),
    call,
  ],
])('what cannot be shown whole is not shown: %s', (_name, options, publicText) => {
  expect(askOfPermission({ options }, publicText, 'agent')).toBeUndefined();
});
