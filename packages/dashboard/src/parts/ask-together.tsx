import type { Ask } from '@parley/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';

import { answer } from '../data/actions.ts';
import { waiting } from '../data/state.ts';
import { left } from '../time.ts';
import { plural } from '../words.ts';
import { no, yes } from './ask-answers.tsx';
import { Avatar } from './avatar.tsx';
import { Exact } from './exact.tsx';
import { Icon } from './icon.tsx';
import { Sheet } from './sheet.tsx';
import { together } from './together.ts';

/** Several commands under one another; they are decided on with one answer once each of them was on the screen. */
export function AskTogether({ onClose }: { onClose: () => void }) {
  // What comes in while somebody reads is none of what they decide on.
  const [asks] = useState(() => together(waiting.value).map(({ ask }) => ask));
  const [seen, see] = useState<ReadonlySet<string>>(new Set());
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const watcher = new IntersectionObserver(
      (entries) => {
        const shown = entries.filter(({ isIntersecting }) => isIntersecting);
        const ids = shown.map(({ target }) => target.getAttribute('data-end') ?? '');
        if (ids.length > 0) see((before) => new Set([...before, ...ids]));
      },
      // The end of a command is on the screen, not only its first line.
      { threshold: 1 },
    );
    for (const end of list.current?.querySelectorAll('[data-end]') ?? []) watcher.observe(end);
    return () => watcher.disconnect();
  }, []);
  const open = asks.filter(({ ask_id }) => together(waiting.value).some(({ ask }) => ask.ask_id === ask_id));
  const all = open.every(({ ask_id }) => seen.has(ask_id));
  const decide = (verdict: (ask: Ask) => Parameters<typeof answer>[1]) => (): void => {
    for (const ask of open) void answer(ask.ask_id, verdict(ask));
    onClose();
  };
  return (
    <Sheet title={`${plural(open.length, 'command')} to approve`} onClose={onClose} wide>
      <ol class="together" ref={list}>
        {open.map((ask) => (
          <li key={ask.ask_id}>
            <p class="together-who">
              <Avatar name={ask.agent_id} size="s" /> <b>{ask.agent_id}</b>
              {ask.cwd === undefined ? null : <span class="mono meta">{ask.cwd}</span>}
              <span class="meta">Denied in {left(ask.expires_at).text}</span>
            </p>
            <pre class="command command-whole">
              <Exact text={ask.command ?? ask.prompt} />
            </pre>
            <span data-end={ask.ask_id} class="together-end" />
          </li>
        ))}
      </ol>
      <footer class="together-answers">
        {all ? null : <p class="meta">Go through all of them first.</p>}
        <button type="button" class="button-primary" disabled={!all} onClick={decide((ask) => yes(ask))}>
          <Icon name="check" /> Approve all {open.length} once
        </button>
        <button type="button" class="button-danger" disabled={!all} onClick={decide((ask) => no(ask))}>
          <Icon name="cross" /> Deny all {open.length}
        </button>
      </footer>
    </Sheet>
  );
}
