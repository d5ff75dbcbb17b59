import type { OutputOf } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { call } from '../data/api.ts';
import { conversations } from '../data/state.ts';
import { findTitles } from '../data/thread-pages.ts';
import { go } from '../router.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icon.tsx';
import { actionGoals, agentGoals, documentGoal, type Goal, pageGoals, threadGoal } from './palette-goals.ts';
import { Sheet } from './sheet.tsx';

const SHOWN = 12;
const EACH = 6;
const PAUSE_MS = 120;

type Passage = OutputOf<'query_knowledge'>['context'][number];

/** Goes to a page, a thread, an agent or a document by a few letters of its name, or does something at once. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, type] = useState('');
  const [at, move] = useState(0);
  const documents = useFound(text.trim());
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const named = ({ label }: Goal): boolean => words.every((word) => label.toLowerCase().includes(word));
  const shown: Goal[] =
    words.length === 0
      ? [...pageGoals(), ...actionGoals().slice(0, 5)]
      : fairly([
          pageGoals().filter(named),
          agentGoals().filter(named),
          conversations.value.map(threadGoal).filter(named),
          actionGoals().filter(named),
          documents.map(({ document_id, heading_path: [title = 'A document'] }) =>
            documentGoal({ document_id, title }),
          ),
        ]).concat({
          key: 'search',
          label: `Search for “${text.trim()}”`,
          what: 'search',
          icon: 'search',
          run: () => go(`/search?q=${encodeURIComponent(text.trim())}`),
        });
  useEffect(() => {
    document.getElementById(`goal-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const choose = (goal: Goal | undefined): void => {
    onClose();
    goal?.run();
  };
  return (
    <Sheet title="Jump to" onClose={onClose}>
      <input
        class="palette-field"
        value={text}
        aria-label="Page, thread, agent, document or action"
        role="combobox"
        aria-expanded="true"
        aria-controls="goals"
        aria-activedescendant={`goal-${at}`}
        placeholder="Page, thread, agent, document or action"
        autofocus
        onInput={(event) => {
          type(event.currentTarget.value);
          move(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.isComposing) {
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
            key={goal.key}
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

/** Some of each kind, in their order: what there is much of leaves room for the rest. */
function fairly(kinds: readonly Goal[][]): Goal[] {
  let each = EACH;
  while (each > 2 && kinds.flatMap((goals) => goals.slice(0, each)).length > SHOWN) each--;
  return kinds.flatMap((goals) => goals.slice(0, each));
}

/** What the hub finds once the typing pauses: threads join those that are known, documents come back. */
function useFound(text: string): Passage[] {
  const [found, set] = useState<Passage[]>([]);
  useEffect(() => {
    let gone = false;
    if (text === '') return set([]);
    const timer = setTimeout(() => {
      void findTitles(text.slice(0, 200), EACH).catch(() => {});
      call('query_knowledge', { query: text, top_k: EACH }).then(
        ({ context }) => {
          const byId = new Map(context.map((passage) => [passage.document_id, passage]));
          if (!gone) set([...byId.values()]);
        },
        () => {},
      );
    }, PAUSE_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [text]);
  return found;
}
