import { useState } from 'preact/hooks';

import { conversations, fleet } from '../data/state.ts';
import { go } from '../router.ts';
import { Avatar } from './avatar.tsx';
import { Icon, type IconName } from './icon.tsx';
import { PLACES } from './nav.tsx';
import { Sheet } from './sheet.tsx';

interface Goal {
  path: string;
  label: string;
  what: string;
  icon?: IconName;
  name?: string;
}

const SHOWN = 9;

/** Jumps to a page, a thread or an agent by a few letters of its name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, type] = useState('');
  const [at, move] = useState(0);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const goals: Goal[] = [
    ...PLACES.map(({ path, word, icon }) => ({ path, label: word, what: 'page', icon })),
    ...conversations.value.map(({ thread_id, title }) => ({
      path: `/t/${thread_id}`,
      label: title,
      what: 'thread',
      icon: 'threads' as const,
    })),
    ...fleet.value.map(({ agent_id }) => ({
      path: `/agents/${encodeURIComponent(agent_id)}`,
      label: agent_id,
      what: 'agent',
      name: agent_id,
    })),
    ...(text.trim() === ''
      ? []
      : [
          {
            path: `/search?q=${encodeURIComponent(text.trim())}`,
            label: `Search for “${text.trim()}”`,
            what: 'search',
            icon: 'search' as const,
          },
        ]),
  ];
  const shown = goals
    .filter(
      ({ label, what }) => what === 'search' || words.every((word) => label.toLowerCase().includes(word)),
    )
    .slice(0, SHOWN);
  const choose = (goal: Goal | undefined): void => {
    onClose();
    if (goal !== undefined) go(goal.path);
  };
  return (
    <Sheet title="Jump to" onClose={onClose}>
      <input
        class="palette-field"
        value={text}
        aria-label="Page, thread or agent"
        role="combobox"
        aria-expanded="true"
        aria-controls="goals"
        aria-activedescendant={`goal-${at}`}
        placeholder="Page, thread or agent"
        autofocus
        onInput={(event) => {
          type(event.currentTarget.value);
          move(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            event.preventDefault();
            choose(shown[at]);
          } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault();
            move((at + (event.key === 'ArrowDown' ? 1 : shown.length - 1)) % Math.max(1, shown.length));
          }
        }}
      />
      <ul class="goals" id="goals" role="listbox" aria-label="Where to">
        {shown.map((goal, i) => (
          <li
            key={goal.path}
            id={`goal-${i}`}
            role="option"
            aria-selected={i === at}
            onClick={() => choose(goal)}
          >
            {goal.name === undefined ? (
              <Icon name={goal.icon ?? 'right'} />
            ) : (
              <Avatar name={goal.name} size="s" />
            )}
            <span>{goal.label}</span>
            <span class="meta">{goal.what}</span>
          </li>
        ))}
      </ul>
    </Sheet>
  );
}
