import { useMemo } from 'preact/hooks';

import { DiffView, type OnComment } from './diff-view.tsx';
import { Prose } from './text.tsx';
import { partsOf } from './text-parts.ts';

/** Words of a participant with the changes of files among them, shown as such. */
export function WithChanges({ text, onComment }: { text: string; onComment?: OnComment | undefined }) {
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
