import type { AgentView } from '@parley/protocol';

import { STATE_WORDS } from '../words.ts';

const HUES = 10;

/** The sign of a participant: two letters and a colour that follow from the name. */
export function Avatar({
  name,
  size = 'm',
  state,
}: {
  name: string;
  size?: 's' | 'm' | 'l';
  state?: AgentView['state'] | undefined;
}) {
  return (
    <span class={`avatar avatar-${size} hue-${hueOf(name)}`} aria-hidden="true">
      {initials(name)}
      {state === undefined ? null : <span class={`dot dot-${state}`} />}
    </span>
  );
}

/** A state as colour and word. */
export function StateChip({ state }: { state: AgentView['state'] }) {
  return (
    <span class={`chip chip-${state}`}>
      <span class={`dot dot-${state}`} aria-hidden="true" />
      {STATE_WORDS[state]}
    </span>
  );
}

function hueOf(name: string): number {
  let sum = 7;
  for (const char of name) sum = (sum * 33 + (char.codePointAt(0) ?? 0)) % 99_991;
  return sum % HUES;
}

function initials(name: string): string {
  const parts = name.split(/[^\p{L}\p{N}]+/u).filter((part) => part !== '' && part !== 'agent');
  const letters =
    parts.length > 1 ? `${parts[0]?.[0] ?? ''}${parts[1]?.[0] ?? ''}` : (parts[0] ?? name).slice(0, 2);
  return letters.toUpperCase();
}
