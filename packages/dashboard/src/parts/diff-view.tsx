import { useState } from 'preact/hooks';

import { plural } from '../words.ts';
import { type DiffFile, type DiffLine, filesOf } from './diff-files.ts';

/** More lines than these are shown when they are asked for. */
const SHOWN = 400;

/** A word about a line of a change, as it goes back into the thread. */
export type OnComment = (text: string) => void;

/** Changes of files, line by line; what somebody says about a line goes back as a message that quotes it. */
export function DiffView({ diff, onComment }: { diff: string; onComment?: OnComment | undefined }) {
  return (
    <div class="changes">
      {filesOf(diff).map((file, i) => (
        <File key={i} file={file} onComment={onComment} />
      ))}
    </div>
  );
}

function File({ file, onComment }: { file: DiffFile; onComment: OnComment | undefined }) {
  const lines = file.hunks.flatMap((hunk) => hunk.lines);
  const [all, showAll] = useState(lines.length <= SHOWN);
  const [about, ask] = useState<DiffLine | undefined>();
  const count = (mark: string): number => lines.filter((line) => line.mark === mark).length;
  let left = all ? Infinity : SHOWN;
  return (
    <section class="change" aria-label={file.name === '' ? 'Changes' : `Changes of ${file.name}`}>
      <header class="change-head">
        <span class="mono">{file.name === '' ? 'Changes' : file.name}</span>
        <span class="change-count">
          <span class="change-new">+{count('+')}</span> <span class="change-old">−{count('-')}</span>
        </span>
      </header>
      {file.note === undefined ? null : <p class="meta change-note">{file.note}</p>}
      <div class="change-lines scroll" tabIndex={0} role="group" aria-label="Lines">
        {file.hunks.map((hunk, i) => (
          <div key={i}>
            {i > 0 || hunk.head !== '' ? <div class="change-gap mono">{hunk.head || '⋯'}</div> : null}
            {hunk.lines
              .slice(0, Math.max(0, (left -= hunk.lines.length) + hunk.lines.length))
              .map((line, k) => (
                <Line
                  key={k}
                  line={line}
                  onAsk={onComment === undefined ? undefined : () => ask(about === line ? undefined : line)}
                >
                  {about === line && onComment !== undefined ? (
                    <Comment
                      onCancel={() => ask(undefined)}
                      onSay={(text) => {
                        ask(undefined);
                        onComment(quote(file.name, line, text));
                      }}
                    />
                  ) : null}
                </Line>
              ))}
          </div>
        ))}
      </div>
      {all ? null : (
        <button type="button" class="button-quiet button-wide" onClick={() => showAll(true)}>
          {plural(lines.length - SHOWN, 'more line')}
        </button>
      )}
    </section>
  );
}

const WORDS = { '+': 'new', '-': 'old', ' ': 'same' } as const;

function Line({
  line,
  onAsk,
  children,
}: {
  line: DiffLine;
  onAsk: (() => void) | undefined;
  children: preact.ComponentChildren;
}) {
  const { mark, text, old, fresh } = line;
  const number = fresh ?? old;
  return (
    <>
      <div class={`change-line change-line-${WORDS[mark]}`}>
        {onAsk === undefined ? (
          <span class="change-number">{number}</span>
        ) : (
          <button
            type="button"
            class="change-number"
            aria-label={`Comment on ${WORDS[mark]} line ${number ?? ''}`}
            onClick={onAsk}
          >
            {number}
          </button>
        )}
        <span class="change-mark" aria-hidden="true">
          {mark}
        </span>
        <code dir="ltr">{text === '' ? '\u00A0' : text}</code>
      </div>
      {children}
    </>
  );
}

function Comment({ onSay, onCancel }: { onSay: (text: string) => void; onCancel: () => void }) {
  const [text, write] = useState('');
  return (
    <form
      class="change-comment"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') onSay(text.trim());
      }}
    >
      <textarea
        rows={2}
        value={text}
        autofocus
        dir="auto"
        aria-label="Comment on this line"
        placeholder="What about this line?"
        onInput={(event) => write(event.currentTarget.value)}
      />
      <div class="button-row">
        <button type="submit" class="button-primary" disabled={text.trim() === ''}>
          Comment
        </button>
        <button type="button" class="button-quiet" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** A comment with what it is about, so that whoever reads it needs no other page. */
function quote(file: string, { mark, text, old, fresh }: DiffLine, comment: string): string {
  const place = file === '' ? '' : `\`${file}:${fresh ?? old ?? ''}\`\n\n`;
  return `${place}\`\`\`diff\n${mark}${text}\n\`\`\`\n\n${comment}`;
}
