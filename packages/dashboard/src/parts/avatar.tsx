import type { AgentView } from '@parley/protocol';

import { computed } from '@preact/signals';

import { agents, threads } from '../data/state.ts';
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
    <span class={`avatar avatar-${size} hue-${signs.value.get(name)?.hue ?? hueOf(name)}`} aria-hidden="true">
      {signs.value.get(name)?.letters ?? initials(name)}
      {state === undefined ? null : <span class={`dot dot-${state}`} />}
    </span>
  );
}

interface Sign {
  letters: string;
  hue: number;
}

/** Whoever takes part somewhere, also those who were never heard of; as one text, which is mostly the same as before. */
const others = computed(() =>
  [...new Set([...(threads.value?.values() ?? [])].flatMap(({ participants }) => participants))]
    .toSorted()
    .join(' '),
);

/** The sign of each who is known: no two are alike. Names in their order choose, agents first, so that it stays the same. */
const signs = computed<ReadonlyMap<string, Sign>>(() =>
  signsOf(
    (agents.value ?? []).map(({ agent_id }) => agent_id),
    others.value.split(' '),
  ),
);

/** A state as colour and word. */
export function StateChip({ state }: { state: AgentView['state'] }) {
  return (
    <span class={`chip chip-${state}`}>
      <span class={`dot dot-${state}`} aria-hidden="true" />
      {STATE_WORDS[state]}
    </span>
  );
}

/** Gives each name letters and a colour that no other has; the rest chooses from what is left. */
export function signsOf(names: readonly string[], rest: readonly string[] = []): Map<string, Sign> {
  const taken = new Set<string>();
  const found = new Map<string, Sign>();
  for (const name of [...names.toSorted(), ...rest.toSorted()]) {
    const choices = lettersOf(name);
    for (let n = 0; !found.has(name); n++) {
      // Every colour with the first letters, then with the next.
      const at = Math.floor(n / HUES);
      const letters =
        choices[at] ?? `${initials(name)[0] ?? '?'}${(at - choices.length).toString(36).toUpperCase()}`;
      const hue = (hueOf(name) + n) % HUES;
      if (taken.has(`${letters} ${hue}`)) continue;
      taken.add(`${letters} ${hue}`);
      found.set(name, { letters, hue });
    }
  }
  return found;
}

/** The letters that a name may go by: numbers inside it tell more than a second word. */
function lettersOf(name: string): string[] {
  const number = /(\d{1,2})\D*$/.exec(name)?.[1];
  const first = initials(name);
  return number === undefined ? [first] : [`${first[0] ?? ''}${number}`, first];
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
