import { type ThreadEvent, plainWords } from '@parley/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';

import { attempt } from '../data/actions.ts';
import type { ThreadLog } from '../data/thread-log.ts';
import { plural } from '../words.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icon.tsx';
import { mentionAt, namesFor, withMention } from './mention.ts';

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
  const [loading, load] = useState(0);
  const [over, hover] = useState(false);
  const [picked, pick] = useState(0);
  const [caret, moveCaret] = useState(text.length);
  /** Puts a text there at once, and the caret: whoever types on does not wait for the next picture. */
  const put = (next: string, at: number): void => {
    if (field.current !== null) field.current.value = next;
    field.current?.setSelectionRange(at, at);
    write(next);
    moveCaret(at);
  };
  /** Where a name was begun that is to be none. */
  const [waived, waive] = useState(-1);
  const mention = mentionAt(text, caret);
  const names =
    mention === undefined || mention.start === waived ? [] : namesFor(mention.word, participants, 6);
  const follow = (): void => {
    const at = field.current?.selectionStart ?? 0;
    if (at !== caret) pick(0);
    moveCaret(at);
  };
  useEffect(() => {
    const area = field.current;
    if (area === null) return;
    area.style.height = 'auto';
    area.style.height = `${Math.min(area.scrollHeight, 220)}px`;
  }, [text]);
  useEffect(() => {
    if (replyTo !== undefined) field.current?.focus();
  }, [replyTo]);
  /** Keeps files with the hub and shows them in the text, where the caret stands. */
  const add = (files: readonly File[]): void => {
    void attempt(async () => (await import('./attach.ts')).addFiles(files, field.current, put, load));
  };
  // Wherever in the thread it is dropped: beside the field the browser would open it instead.
  useEffect(() => {
    const pane = field.current?.closest('section');
    const onDrag = (event: DragEvent): void => {
      const isFile = event.dataTransfer?.types.includes('Files') === true;
      if (isFile) event.preventDefault();
      hover(isFile && event.type === 'dragover');
      if (event.type === 'drop') add([...(event.dataTransfer?.files ?? [])]);
    };
    const gone = new AbortController();
    for (const type of ['dragover', 'dragleave', 'drop'] as const) pane?.addEventListener(type, onDrag, gone);
    return () => gone.abort();
  }, [shut]);
  const send = (): void => {
    const body = text.trim();
    if (body === '' || loading > 0) return;
    write('');
    onReplied();
    void log.say(body, replyTo?.id === undefined ? undefined : `msg_${replyTo.id}`);
  };
  const complete = (name: string): void => {
    if (mention === undefined) return;
    const next = withMention(text, mention, name);
    field.current?.focus();
    put(next.text, next.caret);
    pick(0);
  };
  if (shut !== undefined) return <p class="composer composer-shut">{shut}</p>;
  return (
    <form
      class={over ? 'composer composer-over' : 'composer'}
      onPaste={(event) => {
        const { files = [], types = [] } = event.clipboardData ?? {};
        // What was copied in an office program is its words; their picture comes along.
        if (files.length === 0 || (types.includes('text/html') && types.includes('text/plain'))) return;
        event.preventDefault();
        add([...files]);
      }}
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
            {typeof replyTo.content === 'string' ? plainWords(replyTo.content).slice(0, 120) : ''}
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
      {loading === 0 ? null : (
        <p class="meta composer-loading" role="status">
          {plural(loading, 'file')} on the way
        </p>
      )}
      <div class="composer-line">
        <label class="button-quiet icon-button attach">
          <Icon name="clip" />
          <span class="sr">Add a file</span>
          <input
            type="file"
            multiple
            onChange={(event) => {
              add([...(event.currentTarget.files ?? [])]);
              event.currentTarget.value = '';
            }}
          />
        </label>
        <textarea
          ref={field}
          rows={1}
          dir="auto"
          value={text}
          aria-label="Message"
          placeholder="Message everyone, or @name"
          enterkeyhint="send"
          data-composer
          onInput={(event) => {
            write(event.currentTarget.value);
            pick(0);
            moveCaret(event.currentTarget.selectionStart);
          }}
          onKeyUp={follow}
          onClick={follow}
          onKeyDown={(event) => {
            const chosen = names[picked];
            // A word that is still being put together, and a new line, are nobody's wish to send.
            if (event.isComposing || (event.key === 'Enter' && event.shiftKey)) return;
            if (chosen !== undefined && (event.key === 'Tab' || event.key === 'Enter')) {
              event.preventDefault();
              complete(chosen);
            } else if (names.length > 0 && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
              event.preventDefault();
              pick((picked + (event.key === 'ArrowDown' ? 1 : names.length - 1)) % names.length);
            } else if (event.key === 'Enter') {
              event.preventDefault();
              send();
            } else if (event.key === 'Escape' && mention !== undefined && names.length > 0) {
              event.preventDefault();
              waive(mention.start);
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
          disabled={text.trim() === '' || loading > 0}
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  );
}
