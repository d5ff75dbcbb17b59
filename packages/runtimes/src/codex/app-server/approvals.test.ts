import { expect, test } from 'vitest';
import type { ApprovalDecision } from '../backend.ts';
import { reviewDecision } from '../review-decision.ts';
import { wireAnswer } from './approvals.ts';

const amendment = { acceptWithExecpolicyAmendment: { execpolicy_amendment: ['ls'] } };
const form = { requestedSchema: { type: 'object', properties: { colour: { type: 'string' } } } };
const questions = {
  questions: [
    { id: 'a', question: '?', options: [{ label: 'x' }] },
    { id: 'b', question: '!' },
  ],
};
const wanted = { permissions: { network: { enabled: true }, fileSystem: null } };

const COMMAND = 'item/commandExecution/requestApproval';
const PATCH = 'item/fileChange/requestApproval';
const PERMISSIONS = 'item/permissions/requestApproval';
const QUESTION = 'item/tool/requestUserInput';
const FORM = 'mcpServer/elicitation/request';

test.each<[string, Record<string, unknown>, ApprovalDecision, unknown, boolean]>([
  [COMMAND, {}, 'accept', { decision: 'accept' }, false],
  [COMMAND, {}, 'accept_for_session', { decision: 'acceptForSession' }, false],
  [COMMAND, {}, 'decline', { decision: 'decline' }, false],
  [COMMAND, {}, 'cancel', { decision: 'cancel' }, false],
  [COMMAND, {}, { text: 'because' }, { decision: 'decline' }, false],
  [
    COMMAND,
    { availableDecisions: ['accept', amendment] },
    { option: amendment },
    { decision: amendment },
    false,
  ],
  [COMMAND, { availableDecisions: ['accept'] }, { option: amendment }, { decision: 'decline' }, false],
  [PATCH, {}, { content: {} }, { decision: 'decline' }, false],
  [PERMISSIONS, wanted, 'accept', { permissions: { network: { enabled: true } }, scope: 'turn' }, false],
  [
    PERMISSIONS,
    wanted,
    { option: 'session' },
    { permissions: { network: { enabled: true } }, scope: 'session' },
    false,
  ],
  [PERMISSIONS, wanted, 'decline', { permissions: {}, scope: 'turn' }, false],
  [PERMISSIONS, wanted, 'cancel', { permissions: {}, scope: 'turn' }, true],
  [QUESTION, questions, { text: 'x' }, { answers: { a: { answers: ['x'] } } }, false],
  [
    QUESTION,
    questions,
    { answers: { b: ['1', '2'], zz: ['3'] } },
    { answers: { b: { answers: ['1', '2'] } } },
    false,
  ],
  [QUESTION, questions, 'accept', { answers: {} }, false],
  [QUESTION, questions, 'cancel', { answers: {} }, true],
  [FORM, form, 'accept', { action: 'accept', content: {}, _meta: null }, false],
  [
    FORM,
    { ...form, _meta: { persist: ['session'] } },
    'accept_for_session',
    { action: 'accept', content: {}, _meta: { persist: 'session' } },
    false,
  ],
  [FORM, form, { text: 'red' }, { action: 'accept', content: { colour: 'red' }, _meta: null }, false],
  [FORM, {}, { text: 'red' }, { action: 'decline', content: null, _meta: null }, false],
  [
    FORM,
    form,
    { content: { colour: 'blue' } },
    { action: 'accept', content: { colour: 'blue' }, _meta: null },
    false,
  ],
  [FORM, form, 'decline', { action: 'decline', content: null, _meta: null }, false],
  [FORM, form, 'cancel', { action: 'cancel', content: null, _meta: null }, true],
])('%s %j answered with %j', (method, params, decision, result, interrupt) => {
  expect(wireAnswer(method, params, decision)).toEqual({ result, interrupt });
});

test.each<[ApprovalDecision, unknown]>([
  ['accept', 'approved'],
  ['accept_for_session', 'approved_for_session'],
  ['cancel', 'abort'],
  ['decline', { denied: { rejection: 'The request was declined.' } }],
  [{ text: 'not today' }, { denied: { rejection: 'not today' } }],
  [{ option: 'approved_for_session' }, 'approved_for_session'],
  [{ option: 'Approved' }, { denied: { rejection: 'The request was declined.' } }],
  [{ content: {} }, { denied: { rejection: 'The request was declined.' } }],
])('the older words for %j', (decision, word) => {
  expect(reviewDecision(decision)).toEqual(word);
});
