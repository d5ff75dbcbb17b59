import type { ThreadEvent } from '@parley/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { ThreadLog } from '../data/thread-log.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icon.tsx';

interface ComposerProps {
  log: ThreadLog;
  participants: readonly string[];
  /** Why nothing can be said here; undefined when something can. */
  shut: string | undefined;
  replyTo: ThreadEvent | undefined;
  onReplied: () => void;
}

/** Where a person speaks: the draft survives, `@` names somebody, Enter sends. */
export function Composer({ log, participants, shut, replyTo, onReplied }: ComposerProps) {
  const place = `draft:${log.id}`;
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, set] = useState(() => localStorage.getItem(place) ?? '');
  // Kept with each letter, not with the next picture: a reload may come before it.
  const write = (next: string): void => {
    if (next === '') localStorage.removeItem(place);
    else localStorage.setItem(place, next);
    set(next);
  };
  const [picked, pick] = useState(0);
  const word = /(?:^|\s)@([\w.:@-]*)$/.exec(text)?.[1];
  const names =
    word === undefined
      ? []
      : participants.filter((name) => name.toLowerCase().startsWith(word.toLowerCase())).slice(0, 6);
  useEffect(() => {
    const area = field.current;
    if (area === null) return;
    area.style.height = 'auto';
    area.style.height = `${Math.min(area.scrollHeight, 220)}px`;
  }, [text]);
  useEffect(() => {
    if (replyTo !== undefined) field.current?.focus();
  }, [replyTo]);
  const send = (): void => {
    const body = text.trim();
    if (body === '') return;
    write('');
    onReplied();
    void log.say(body, replyTo?.id === undefined ? undefined : `msg_${replyTo.id}`);
  };
  const complete = (name: string): void => {
    write(text.replace(/@[\w.:@-]*$/, `@${name} `));
    pick(0);
    field.current?.focus();
  };
  if (shut !== undefined) return <p class="composer composer-shut">{shut}</p>;
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {replyTo === undefined ? null : (
        <div class="replying">
          <Icon name="reply" size={16} />
          <span>
            Reply to <b>{replyTo.from}</b>{' '}
            {typeof replyTo.content === 'string' ? replyTo.content.slice(0, 120) : ''}
          </span>
          <button type="button" class="button-quiet icon-button" aria-label="No reply" onClick={onReplied}>
            <Icon name="cross" size={16} />
          </button>
        </div>
      )}
      {names.length === 0 ? null : (
        <ul class="mentions" role="listbox" aria-label="Who is meant">
          {names.map((name, i) => (
            <li
              key={name}
              role="option"
              aria-selected={i === picked}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => complete(name)}
            >
              <Avatar name={name} size="s" /> {name}
            </li>
          ))}
        </ul>
      )}
      <div class="composer-line">
        <textarea
          ref={field}
          rows={1}
          value={text}
          aria-label="Message"
          placeholder="Message everyone, or @name"
          enterkeyhint="send"
          data-composer
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={(event) => {
            const chosen = names[picked];
            if (chosen !== undefined && (event.key === 'Tab' || event.key === 'Enter')) {
              event.preventDefault();
              complete(chosen);
            } else if (names.length > 0 && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
              event.preventDefault();
              pick((picked + (event.key === 'ArrowDown' ? 1 : names.length - 1)) % names.length);
            } else if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
              event.preventDefault();
              send();
            } else if (event.key === 'Escape') {
              event.currentTarget.blur();
              onReplied();
            }
          }}
        />
        <button
          type="submit"
          class="button-primary icon-button"
          aria-label="Send"
          disabled={text.trim() === ''}
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  );
}
