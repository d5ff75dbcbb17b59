import { useEffect, useMemo, useRef } from 'preact/hooks';

import { toMarkup } from '../markdown.ts';
import type { OnComment } from './diff-view.tsx';
import { later } from './later.tsx';

const WithChanges = later(async () => (await import('./with-changes.tsx')).WithChanges);

/** A text in which the changes of files may stand, in a fence or without one. */
const CHANGES = /^(?:@@ -|--- \S|diff --git | {0,3}(?:`{3,}|~{3,})\s*(?:diff|patch))/m;

/** Words of a participant: Markdown made harmless, or plain text; changes of files as such. */
export function Text({ text, onComment }: { text: string; onComment?: OnComment | undefined }) {
  return CHANGES.test(text) ? <WithChanges text={text} onComment={onComment} /> : <Prose text={text} />;
}

/** What needs more than markup: code, and files that are mentioned. */
const RICH = /<pre|href="artifact:/;

/** Words without changes of files among them. */
export function Prose({ text }: { text: string }) {
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
      {text.trimEnd()}
    </div>
  ) : (
    <div class="prose" ref={box} dangerouslySetInnerHTML={{ __html: markup }} />
  );
}
