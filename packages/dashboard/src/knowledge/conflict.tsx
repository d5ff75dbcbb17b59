import { applyPatch, structuredPatch } from 'diff';
import { useMemo } from 'preact/hooks';

import { Icon } from '../parts/icon.tsx';
import { agoWords } from '../time.ts';
import { COMPARING_MS } from './compare-texts.ts';
import { Difference } from './difference.tsx';
import type { Opened } from './document-data.ts';
import type { Draft } from './draft.ts';

/** Somebody was faster: both changes beside each other, and ways to go on in which nothing is lost. */
export function Conflict({
  draft,
  theirs,
  onGoOn,
  onTakeTheirs,
}: {
  draft: Draft;
  theirs: Opened;
  /** Goes on upon their revision, with another text where one is given. */
  onGoOn: (body?: string) => void;
  onTakeTheirs: () => void;
}) {
  const { revision, updated_by, updated_at, content, metadata } = theirs.document;
  const together = useMemo(() => bringTogether(draft, content.body), [draft.body, content.body]);
  return (
    <section class="conflict" role="alert" aria-label="Somebody else has changed this document">
      <h2>
        <Icon name="warn" /> {updated_by} was faster
      </h2>
      <p>
        You began with revision {draft.base}; {updated_by} saved revision {revision} {agoWords(updated_at)}.
        Nothing of yours is lost: it is below, and kept in this browser.
      </p>
      <div class="sides">
        <div>
          <h3>Yours</h3>
          {draft.title === metadata.title ? null : <p class="meta">Title: {draft.title}</p>}
          <Difference before={draft.before} after={draft.body} />
        </div>
        <div>
          <h3>Theirs, revision {revision}</h3>
          {draft.title === metadata.title ? null : <p class="meta">Title: {metadata.title}</p>}
          <Difference before={draft.before} after={content.body} />
        </div>
      </div>
      <div class="button-row">
        {together === undefined ? null : (
          <button type="button" class="button-primary" onClick={() => onGoOn(together)}>
            <Icon name="check" /> Bring both together
          </button>
        )}
        <button type="button" class="button" onClick={() => onGoOn()}>
          Go on with mine
        </button>
        <button type="button" class="button-danger" onClick={onTakeTheirs}>
          Take theirs, drop mine
        </button>
      </div>
      <p class="meta">
        {together === undefined
          ? 'Both changed the same lines: put them together by hand below, then save.'
          : 'The changes do not overlap, so both can be kept. Nothing is saved until you save it.'}
      </p>
    </section>
  );
}

/** Their text with our change in it; undefined where both changed the same lines. */
function bringTogether({ before, body }: Draft, theirs: string): string | undefined {
  const [from, to, onto] = [before, body, theirs].map((text) => (text.endsWith('\n') ? text : `${text}\n`));
  const ours = structuredPatch('', '', from ?? '', to ?? '', '', '', { context: 1, timeout: COMPARING_MS });
  const patched = ours !== undefined && applyPatch(onto ?? '', ours);
  if (patched === false) return undefined;
  return body.endsWith('\n') ? patched : patched.replace(/\n$/, '');
}
