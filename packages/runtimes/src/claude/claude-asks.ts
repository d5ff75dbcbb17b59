import { type AskVerdict, HUB_NAME, isStorable } from '@parley/protocol';

import type { AskToRaise } from '../managed/session.ts';
import { isObject, type Loose, objectAt, textAt } from '../process/rpc-peer.ts';
import { clip } from '../public-text.ts';

/** What Claude Code asks its host, as a person sees it, and their verdict in its own words. */
export interface ClaudeAsk {
  /** Undefined when it cannot be shown whole. */
  content: AskToRaise | undefined;
  /** Undefined stands for nobody's answer, and refuses. */
  response(verdict: AskVerdict | undefined): Loose;
}

/** What one ask can show of a command or an edit, in bytes. */
const MOST_SHOWN = 16_000;
const MOST_LABEL = 200;
const MOST_OPTIONS = 16;

/** Understands a request of the control protocol; undefined for one that is no question to a person. */
export function askOfClaude(request: Loose, cwd: string): ClaudeAsk | undefined {
  if (request['subtype'] === 'elicitation') return elicitation(request);
  if (request['subtype'] !== 'can_use_tool') return undefined;
  return textAt(request, 'tool_name') === 'AskUserQuestion' ? questions(request) : permission(request, cwd);
}

function permission(request: Loose, cwd: string): ClaudeAsk {
  const tool = textAt(request, 'tool_name') ?? 'a tool';
  const input = objectAt(request, 'input');
  const command = textAt(input, 'command') ?? `${tool} ${JSON.stringify(input, null, 2)}`;
  const grants = grantsOf(request);
  const described = textAt(request, 'description') ?? textAt(request, 'decision_reason');
  const prompt = clip(
    `Allow Claude Code to use ${tool}?${described === undefined ? '' : `\n${described}`}`,
    1_000,
  );
  return {
    content: fits(command, MOST_SHOWN)
      ? {
          kind: 'approval',
          prompt,
          command,
          ...(fits(cwd, 4_000) ? { cwd } : {}),
          options: [
            { id: 'once', label: 'Allow once', kind: 'allow_once' },
            ...grants.map(({ id, label, kind }) => ({ id, label, kind })),
            { id: 'deny', label: 'Deny', kind: 'deny' },
            { id: 'stop', label: 'Deny and end the turn', kind: 'deny' },
          ],
          metadata: { source: 'claude_code', kind: 'permission', tool: clip(tool, 200) },
        }
      : undefined,
    response(verdict) {
      if (verdict === undefined || verdict.decision === 'denied' || verdict.decision === 'withdrawn')
        return { behavior: 'deny', message: refusal(verdict), interrupt: verdict?.option === 'stop' };
      const granted =
        grants.find(({ id }) => id === verdict.option) ??
        grants.find(({ kind }) => kind === `allow_${verdict.scope ?? 'once'}`);
      return {
        behavior: 'allow',
        updatedInput: input,
        ...(granted === undefined ? {} : { updatedPermissions: [granted.suggestion] }),
      };
    },
  };
}

interface Grant {
  id: string;
  label: string;
  kind: 'allow_session' | 'allow_rule';
  suggestion: Loose;
}

/** What Claude Code itself would offer beside this one time; only what can be said whole is offered. */
function grantsOf(request: Loose): Grant[] {
  const { permission_suggestions: all } = request;
  return (Array.isArray(all) ? all : [])
    .filter(isObject)
    .flatMap((suggestion, index): Grant[] => {
      const what = grantText(suggestion);
      if (what === undefined) return [];
      const isSession = suggestion['destination'] === 'session';
      const where = isSession
        ? 'for this session'
        : `always (${textAt(suggestion, 'destination') ?? 'settings'})`;
      const label = `Allow ${what} ${where}`;
      const kind = isSession ? ('allow_session' as const) : ('allow_rule' as const);
      return fits(label, MOST_LABEL) ? [{ id: `grant-${index + 1}`, label, kind, suggestion }] : [];
    })
    .slice(0, MOST_OPTIONS - 3);
}

function grantText(suggestion: Loose): string | undefined {
  const list = (name: string): unknown[] => (Array.isArray(suggestion[name]) ? suggestion[name] : []);
  if (suggestion['type'] === 'addRules' && suggestion['behavior'] === 'allow')
    return list('rules')
      .filter(isObject)
      .map((rule) => `${textAt(rule, 'toolName') ?? ''}(${textAt(rule, 'ruleContent') ?? '*'})`)
      .join(', ');
  if (suggestion['type'] === 'addDirectories')
    return `access to ${list('directories').map(String).join(', ')}`;
  if (suggestion['type'] === 'setMode') return `mode ${textAt(suggestion, 'mode') ?? ''}`;
  return undefined;
}

/** The questions that the agent puts to its user, of which it may ask several at once. */
function questions(request: Loose): ClaudeAsk {
  const input = objectAt(request, 'input');
  const asked = (Array.isArray(input['questions']) ? input['questions'] : []).filter(isObject).map((one) => ({
    question: textAt(one, 'question') ?? '',
    multi: one['multiSelect'] === true,
    labels: (Array.isArray(one['options']) ? one['options'] : [])
      .filter(isObject)
      .map((option) => textAt(option, 'label') ?? ''),
  }));
  const [only, ...others] = asked;
  const prompt = clip(asked.map(({ question }) => question).join('\n'), 1_000) || 'Claude Code asks';
  const metadata = { source: 'claude_code', kind: 'question' };
  const isPlain =
    only !== undefined &&
    others.length === 0 &&
    !only.multi &&
    new Set(only.labels).size === only.labels.length &&
    only.labels.every((label) => label !== '' && fits(label, MOST_LABEL));
  const schema = {
    type: 'object',
    properties: Object.fromEntries(
      asked.map(({ question, multi, labels }) => {
        const choice = { type: 'string', ...(labels.length === 0 ? {} : { enum: labels }) };
        return [question, multi ? { type: 'array', items: choice } : choice];
      }),
    ),
  };
  return {
    content: isPlain
      ? {
          kind: 'question',
          prompt,
          options: only.labels.map((label) => ({ id: label, label, kind: 'choice' as const })),
          metadata,
        }
      : fits(JSON.stringify(schema), MOST_SHOWN)
        ? { kind: 'elicitation', prompt, schema, metadata }
        : undefined,
    response(verdict) {
      const said = verdict?.option ?? verdict?.text;
      const answers =
        verdict?.data ?? (said === undefined || only === undefined ? {} : { [only.question]: said });
      if (
        verdict?.decision === 'denied' ||
        verdict?.decision === 'withdrawn' ||
        Object.keys(answers).length === 0
      )
        return { behavior: 'deny', message: refusal(verdict), interrupt: false };
      const plain = Object.entries(answers).map(([question, answer]) => [
        question,
        Array.isArray(answer) ? answer.map(String).join(', ') : String(answer),
      ]);
      return { behavior: 'allow', updatedInput: { ...input, answers: Object.fromEntries(plain) } };
    },
  };
}

/** A form that one of its MCP servers wants filled in. */
function elicitation(request: Loose): ClaudeAsk {
  const schema = objectAt(request, 'requested_schema');
  const prompt = clip(textAt(request, 'message') ?? 'An MCP server asks', 1_000);
  return {
    content: fits(JSON.stringify(schema), MOST_SHOWN)
      ? { kind: 'elicitation', prompt, schema, metadata: { source: 'claude_code', kind: 'elicitation' } }
      : undefined,
    response(verdict) {
      if (verdict === undefined || verdict.decision === 'withdrawn') return { action: 'cancel' };
      if (verdict.decision === 'denied') return { action: 'decline' };
      return { action: 'accept', content: verdict.data ?? {} };
    },
  };
}

function refusal(verdict: AskVerdict | undefined): string {
  if (verdict === undefined || verdict.by === HUB_NAME)
    return 'nobody answered in time, so it was not allowed';
  return verdict.reason ?? verdict.text ?? `${verdict.by} did not allow it`;
}

function fits(text: string, bytes: number): boolean {
  return text !== '' && Buffer.byteLength(text) <= bytes && isStorable(text);
}
