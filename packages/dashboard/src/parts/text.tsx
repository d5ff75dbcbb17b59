import { useMemo } from 'preact/hooks';

import { toMarkup } from '../markdown.ts';

/** Words of a participant: Markdown made harmless, or plain text. */
export function Text({ text }: { text: string }) {
  const markup = useMemo(() => toMarkup(text), [text]);
  return markup === undefined ? (
    <div class="prose prose-plain">{text}</div>
  ) : (
    <div class="prose" dangerouslySetInnerHTML={{ __html: markup }} />
  );
}
