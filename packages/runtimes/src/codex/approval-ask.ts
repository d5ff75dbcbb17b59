import { type AskVerdict, HUB_NAME, type InputOf, isStorable, fieldsOf } from '@parley/protocol';

import { clip } from '../public-text.ts';
import type { ApprovalDecision, ApprovalRequest } from './backend.ts';

type Raising = InputOf<'raise_ask'>;
type Offer = Exclude<NonNullable<Raising['options']>[number], string>;

/** What one ask can show of a command or a patch, in bytes. */
const MOST_SHOWN = 16_000;

/** What is offered where Codex does not say itself what it would take. */
const LEAVE: Offer[] = [
  { id: 'once', label: 'Allow once', kind: 'allow_once' },
  { id: 'session', label: 'Allow for this session', kind: 'allow_session' },
  { id: 'deny', label: 'Deny', kind: 'deny' },
];

const STOP: Offer = { id: 'stop', label: 'Deny and end the turn', kind: 'deny' };
const OFFERS: Readonly<Record<string, Offer | undefined>> = {
  accept: LEAVE[0],
  approved: LEAVE[0],
  acceptForSession: LEAVE[1],
  approved_for_session: LEAVE[1],
  cancel: STOP,
  abort: STOP,
};

/** Codex's own options in words; whoever may allow may also deny. */
function leaveOf({ options }: ApprovalRequest): Offer[] {
  const own = options.flatMap((option, index): Offer[] => {
    const offer = typeof option === 'string' ? OFFERS[option] : undefined;
    if (offer !== undefined) return [offer];
    const words = ruleOf(option)?.join(' ');
    const label = `Allow, and from now on whatever begins with: ${words ?? ''}`;
    if (words === undefined || !fits(label, 200)) return [];
    return [{ id: `rule-${index}`, label, kind: 'allow_rule' }];
  });
  if (!own.some(({ id }) => id === 'once')) return LEAVE;
  return [
    ...own.filter(({ id }) => id !== 'stop'),
    ...LEAVE.slice(2),
    ...own.filter(({ id }) => id === 'stop'),
  ];
}

/** The beginning of the commands that Codex offers to allow for good. */
function ruleOf(option: unknown): string[] | undefined {
  const { acceptWithExecpolicyAmendment: offer } = fieldsOf(option);
  const { execpolicy_amendment: words } = fieldsOf(offer);
  return Array.isArray(words) && words.length > 0 ? words.map(String) : undefined;
}

/** An approval as a person sees it at the hub; undefined when what is to be run cannot be shown there whole. */
export function askOf(request: ApprovalRequest): Raising | undefined {
  const { kind, command, cwd, raw } = request;
  const prompt = clip(messageOf(request).trim(), 1_000) || `Codex asks (${kind})`;
  const place = cwd === undefined || !fits(cwd, 4_000) ? {} : { cwd };
  const metadata = { source: 'codex', kind };
  if (kind === 'command') {
    if (command === undefined || !fits(command, MOST_SHOWN)) return undefined;
    return { kind: 'approval', prompt, command, ...place, options: leaveOf(request), metadata };
  }
  if (kind === 'patch') {
    const patch = patchText(request);
    return {
      kind: 'approval',
      prompt,
      ...(patch === '' ? {} : { command: patch }),
      ...place,
      options: leaveOf(request),
      metadata,
    };
  }
  if (kind === 'permissions') {
    const wanted = JSON.stringify(raw.params);
    if (!fits(wanted, MOST_SHOWN)) return undefined;
    return { kind: 'approval', prompt, command: wanted, ...place, options: LEAVE, metadata };
  }
  const options = optionsOf(request);
  if (options !== undefined) return { kind: 'question', prompt, options, metadata };
  const schema = fieldsOf(schemaOf(request));
  if (!fits(JSON.stringify(schema), MOST_SHOWN)) return undefined;
  return { kind: 'elicitation', prompt, schema, metadata };
}

/** A person's verdict in the words of the driver; undefined for one that says nothing to Codex. */
export function decisionOfVerdict(
  { kind, questions = [], options }: ApprovalRequest,
  { decision, option, scope, text, data, reason, by }: AskVerdict,
): ApprovalDecision | undefined {
  if (decision === 'withdrawn') return undefined;
  const asksLeave = kind === 'command' || kind === 'patch' || kind === 'permissions';
  if (decision === 'denied') {
    if (asksLeave && option === 'stop') return 'cancel';
    const why = reason ?? text;
    return asksLeave && why !== undefined && by !== HUB_NAME ? { text: why } : 'decline';
  }
  const rule = options.find((one, index) =>
    option === undefined ? scope === 'rule' && ruleOf(one) !== undefined : option === `rule-${index}`,
  );
  if (asksLeave && rule !== undefined) return { option: rule };
  if (asksLeave)
    return option === 'session' || scope === 'session' || scope === 'rule' ? 'accept_for_session' : 'accept';
  if (kind === 'mcp_elicitation') return { content: data ?? {} };
  const said = option ?? text;
  const answers =
    data ?? (said === undefined ? {} : Object.fromEntries(questions.slice(0, 1).map(({ id }) => [id, said])));
  return {
    answers: Object.fromEntries(
      Object.entries(answers).map(([id, value]) => [
        id,
        (Array.isArray(value) ? value : [value]).map(String),
      ]),
    ),
  };
}

/** The whole patch, or the names of its files where it is too long. */
function patchText({ changes = [] }: ApprovalRequest): string {
  const whole = changes.map(({ type, path, diff }) => `${type} ${path}\n${diff}`).join('\n');
  if (fits(whole, MOST_SHOWN)) return whole;
  const names = changes.map(({ type, path }) => `${type} ${path}`).join('\n');
  return clip(`(too long to be shown here; only the names of the files)\n${names}`, MOST_SHOWN / 3);
}

function optionsOf({ kind, questions = [] }: ApprovalRequest): Raising['options'] {
  const [only, ...others] = questions;
  if (kind !== 'user_input' || only === undefined || others.length > 0) return undefined;
  const { options } = only;
  const good =
    new Set(options).size === options.length && options.every((label) => label !== '' && fits(label, 200));
  if (options.length === 0 || options.length > 16 || !good) return undefined;
  return options.map((label) => ({ id: label, label, kind: 'choice' as const }));
}

function fits(text: string, bytes: number): boolean {
  return Buffer.byteLength(text) <= bytes && isStorable(text);
}

/** The question in a sentence or two. */
export function messageOf({ kind, command, cwd, changes, reason, questions, raw }: ApprovalRequest): string {
  const publicText = raw.params['message'];
  if (typeof publicText === 'string') return publicText;
  const why = reason === undefined ? '' : `\n${reason}`;
  if (kind === 'command') return `Allow Codex to run \`${command ?? ''}\` in \`${cwd ?? ''}\`?${why}`;
  if (kind === 'patch')
    return `Allow Codex to change ${(changes ?? []).map(({ path }) => path).join(', ') || 'files'}?${why}`;
  if (kind === 'user_input') return (questions ?? []).map(({ question }) => question).join('\n');
  return `Codex asks for ${kind === 'permissions' ? 'more permissions' : 'an answer'}.${why}`;
}

/** What a filled-in answer looks like. */
export function schemaOf({ kind, questions, raw }: ApprovalRequest): unknown {
  if (kind === 'mcp_elicitation' && raw.params['requestedSchema'] !== undefined)
    return raw.params['requestedSchema'];
  const asked = kind === 'user_input' ? (questions ?? []) : [];
  return {
    type: 'object',
    properties: Object.fromEntries(
      asked.map(({ id, question, options }) => [
        id,
        { type: 'string', description: question, ...(options.length === 0 ? {} : { enum: options }) },
      ]),
    ),
  };
}
