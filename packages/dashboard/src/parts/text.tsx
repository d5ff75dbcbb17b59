import { useEffect, useMemo, useRef } from 'preact/hooks';

import { toMarkup } from '../markdown.ts';
import type { OnComment } from './diff-view.tsx';
import { later } from './later.tsx';
import { partsOf } from './text-parts.ts';

const DiffView = later(async () => (await import('./diff-view.tsx')).DiffView);

/** Words of a participant: Markdown made harmless, or plain text; changes of files as such. */
export function Text({ text, onComment }: { text: string; onComment?: OnComment | undefined }) {
  const parts = useMemo(() => partsOf(text), [text]);
  return (
    <>
      {parts.map((part, i) =>
        part.kind === 'diff' ? (
          <DiffView key={i} diff={part.text} onComment={onComment} />
        ) : (
          <Prose key={i} text={part.text} />
        ),
      )}
    </>
  );
}

/** What needs more than markup: code, and files that are mentioned. */
const RICH = /<pre|href="artifact:/;

function Prose({ text }: { text: string }) {
  const markup = useMemo(() => toMarkup(text), [text]);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (markup === undefined || !RICH.test(markup)) return;
    void import('./rich-text.ts').then(({ enrich }) => {
      if (box.current !== null) enrich(box.current);
    });
  }, [markup]);
  return markup === undefined ? (
    <div class="prose prose-plain" dir="auto">
      {text}
    </div>
  ) : (
    <div class="prose" ref={box} dangerouslySetInnerHTML={{ __html: markup }} />
  );
}
