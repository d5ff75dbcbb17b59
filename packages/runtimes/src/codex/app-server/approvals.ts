import { isDeepStrictEqual } from 'node:util';
import { isObject, type Loose, objectAt, textAt } from '../../process/rpc-peer.ts';
import type { ApprovalDecision, ApprovalKind, FileChange, UserQuestion } from '../backend.ts';
import { reviewDecision } from '../review-decision.ts';

/** What app-server asks its client, and how that is known on the port. */
export const APPROVAL_KINDS: Readonly<Record<string, ApprovalKind>> = {
  'item/commandExecution/requestApproval': 'command',
  'item/fileChange/requestApproval': 'patch',
  'item/permissions/requestApproval': 'permissions',
  'item/tool/requestUserInput': 'user_input',
  'mcpServer/elicitation/request': 'mcp_elicitation',
  // The words of earlier clients, which are still spoken to some.
  execCommandApproval: 'command',
  applyPatchApproval: 'patch',
};

const PLAIN_OPTIONS = ['accept', 'acceptForSession', 'decline', 'cancel'];
const REVIEW_OPTIONS = ['approved', 'approved_for_session', 'denied', 'abort'];

/** What the child would take for an answer. */
export function optionsOf(method: string, params: Loose): readonly unknown[] {
  if (Array.isArray(params['availableDecisions'])) return params['availableDecisions'];
  switch (APPROVAL_KINDS[method] ?? 'mcp_elicitation') {
    case 'command':
    case 'patch':
      return method.startsWith('item/') ? PLAIN_OPTIONS : REVIEW_OPTIONS;
    case 'permissions':
      return ['turn', 'session', 'none'];
    case 'user_input':
      return questionsOf(params).flatMap(({ options }) => options);
    case 'mcp_elicitation':
      break;
  }
  return ['accept', 'decline', 'cancel'];
}

/** The questions of a `user_input`. */
export function questionsOf(params: Loose): UserQuestion[] {
  const questions = Array.isArray(params['questions']) ? params['questions'].filter(isObject) : [];
  return questions.map((question) => ({
    id: textAt(question, 'id') ?? '',
    question: textAt(question, 'question') ?? '',
    options: (Array.isArray(question['options']) ? question['options'] : [])
      .filter(isObject)
      .map((option) => textAt(option, 'label') ?? ''),
  }));
}

/** The changes of a file-change item, or of an older client's request. */
export function changesOf(value: Loose): FileChange[] | undefined {
  const { changes, fileChanges } = value;
  if (isObject(fileChanges)) return changesByPath(fileChanges);
  if (!Array.isArray(changes)) return undefined;
  return changes.filter(isObject).map((change) => ({
    path: textAt(change, 'path') ?? '',
    type: changeType(textAt(objectAt(change, 'kind'), 'type') ?? textAt(change, 'kind')),
    diff: textAt(change, 'diff') ?? '',
  }));
}

/** The changes of a patch that are told by their paths. */
export function changesByPath(changes: Loose): FileChange[] {
  return Object.entries(changes).map(([path, change]) => {
    const facts = isObject(change) ? change : {};
    const diff = textAt(facts, 'unified_diff') ?? textAt(facts, 'content') ?? '';
    return { path, type: changeType(textAt(facts, 'type')), diff };
  });
}

function changeType(type: string | undefined): FileChange['type'] {
  return type === 'add' || type === 'delete' ? type : 'update';
}

/** The child's answer, and whether the turn must be interrupted because the answer alone does not end it. */
export interface WireAnswer {
  result: Loose;
  interrupt: boolean;
}

/** Puts a decision into the words of the request; whatever does not fit the question is a refusal. */
export function wireAnswer(method: string, params: Loose, decision: ApprovalDecision): WireAnswer {
  const cancels = decision === 'cancel';
  switch (APPROVAL_KINDS[method] ?? 'mcp_elicitation') {
    case 'command':
    case 'patch':
      if (!method.startsWith('item/'))
        return { result: { decision: reviewDecision(decision) }, interrupt: false };
      return { result: { decision: plainDecision(method, params, decision) }, interrupt: false };
    case 'permissions':
      return { result: permissions(params, decision), interrupt: cancels };
    case 'user_input':
      return { result: { answers: userAnswers(params, decision) }, interrupt: cancels };
    case 'mcp_elicitation':
      break;
  }
  return { result: elicitation(params, decision), interrupt: cancels };
}

const PLAIN_WORDS = {
  accept: 'accept',
  accept_for_session: 'acceptForSession',
  decline: 'decline',
  cancel: 'cancel',
} as const;

function plainDecision(method: string, params: Loose, decision: ApprovalDecision): unknown {
  if (typeof decision === 'string') return PLAIN_WORDS[decision];
  if (!('option' in decision)) return 'decline';
  const offered = optionsOf(method, params).some((option) => isDeepStrictEqual(option, decision.option));
  return offered ? decision.option : 'decline';
}

function permissions(params: Loose, decision: ApprovalDecision): Loose {
  const option = typeof decision === 'object' && 'option' in decision ? decision.option : undefined;
  const session = decision === 'accept_for_session' || option === 'session';
  const granted = session || decision === 'accept' || option === 'turn';
  const wanted = Object.entries(objectAt(params, 'permissions')).filter(([, value]) => value !== null);
  return {
    permissions: granted ? Object.fromEntries(wanted) : {},
    scope: session ? 'session' : 'turn',
  };
}

function userAnswers(params: Loose, decision: ApprovalDecision): Loose {
  const questions = questionsOf(params);
  const answersById: Record<string, readonly string[]> = {};
  if (typeof decision === 'object') {
    const first = questions[0]?.id;
    if ('answers' in decision) Object.assign(answersById, decision.answers);
    else if ('text' in decision && first !== undefined) answersById[first] = [decision.text];
    else if ('option' in decision && typeof decision.option === 'string' && first !== undefined)
      answersById[first] = [decision.option];
  }
  return Object.fromEntries(
    questions.flatMap(({ id }) =>
      Object.hasOwn(answersById, id) ? [[id, { answers: answersById[id] }]] : [],
    ),
  );
}

function elicitation(params: Loose, decision: ApprovalDecision): Loose {
  const persists = objectAt(params, '_meta')['persist'];
  const forSession = Array.isArray(persists) ? persists.includes('session') : persists === 'session';
  const meta = decision === 'accept_for_session' && forSession ? { persist: 'session' } : null;
  if (decision === 'accept' || decision === 'accept_for_session')
    return { action: 'accept', content: {}, _meta: meta };
  if (decision === 'decline' || decision === 'cancel')
    return { action: decision, content: null, _meta: null };
  if ('content' in decision) return { action: 'accept', content: decision.content, _meta: null };
  const field = onlyTextField(params);
  if ('text' in decision && field !== undefined)
    return { action: 'accept', content: { [field]: decision.text }, _meta: null };
  if ('option' in decision && ['accept', 'decline', 'cancel'].includes(String(decision.option)))
    return { action: decision.option, content: decision.option === 'accept' ? {} : null, _meta: null };
  return { action: 'decline', content: null, _meta: null };
}

function onlyTextField(params: Loose): string | undefined {
  const fields = Object.entries(objectAt(objectAt(params, 'requestedSchema'), 'properties'));
  const [name, schema] = fields[0] ?? [];
  return fields.length === 1 && isObject(schema) && schema['type'] === 'string' ? name : undefined;
}
