import type {
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { type AskVerdict, isStorable, LIMITS } from '@parley/protocol';

import type { AskToRaise } from '../managed/session.ts';
import { clip } from '../public-text.ts';
import type { ToolCall } from './tool-calls.ts';

type PermissionOutcome = RequestPermissionResponse['outcome'];

/** What one ask can show of a tool call, in bytes. */
const MOST_SHOWN = 16_000;
const MOST_OPTIONS = 16;

/** What choosing an option of the agent means at the hub. */
const MEANS: Record<string, 'allow_once' | 'allow_rule' | 'deny'> = {
  allow_once: 'allow_once',
  allow_always: 'allow_rule',
  reject_once: 'deny',
  reject_always: 'deny',
};

/** A permission as a person sees it at the hub, with the agent's own options; undefined when it cannot be shown whole. */
export function askOfPermission(
  { options }: Pick<RequestPermissionRequest, 'options'>,
  { title, kind, command, cwd }: ToolCall,
  agent: string,
): AskToRaise | undefined {
  const shown = options.map(({ optionId, name, kind: means }) => ({
    id: optionId,
    label: name === '' ? optionId : name,
    kind: MEANS[means] ?? ('choice' as const),
  }));
  const ids = new Set(shown.map(({ id }) => id));
  if (shown.length === 0 || shown.length > MOST_OPTIONS || ids.size < shown.length) return undefined;
  if (!shown.every(({ id, label }) => fits(id, LIMITS.option_bytes) && fits(label, LIMITS.option_bytes)))
    return undefined;
  if (command !== undefined && !fits(command, MOST_SHOWN)) return undefined;
  const what = clip(title.trim(), 1_000) || 'something';
  return {
    kind: 'approval',
    prompt: `${clip(agent, 100)} asks for approval: ${what}`,
    ...(command === undefined ? {} : { command }),
    ...(cwd === undefined || !fits(cwd, 4_000) ? {} : { cwd }),
    options: shown,
    metadata: { source: 'acp', kind: clip(kind, 100) },
  };
}

/** A person's verdict as the agent's own option; what was not chosen is never widened to what was not asked. */
export function outcomeOf(
  options: readonly PermissionOption[],
  verdict: AskVerdict | undefined,
): PermissionOutcome {
  const decision = verdict?.decision ?? 'denied';
  if (decision === 'withdrawn') return { outcome: 'cancelled' };
  const chosen = options.find(({ optionId }) => optionId === verdict?.option);
  if (chosen !== undefined) return selected(chosen);
  if (decision === 'denied')
    return selected(ofKind(options, 'reject_once') ?? ofKind(options, 'reject_always'));
  const lasting = verdict?.scope === 'session' || verdict?.scope === 'rule';
  const always = lasting ? ofKind(options, 'allow_always') : undefined;
  return selected(always ?? ofKind(options, 'allow_once'));
}

/** Where the agent offers no such option, its own word for "nobody chose". */
function selected(option: PermissionOption | undefined): PermissionOutcome {
  return option === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option.optionId };
}

function ofKind(options: readonly PermissionOption[], kind: PermissionOption['kind']) {
  return options.find((option) => option.kind === kind);
}

function fits(text: string, bytes: number): boolean {
  return text !== '' && Buffer.byteLength(text) <= bytes && isStorable(text);
}
