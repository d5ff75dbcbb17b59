import type { DocumentRevision, OutputOf } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { attempt, maySteer } from '../data/actions.ts';
import { call, newKey, read, wordsOf } from '../data/api.ts';
import { treeEvents } from '../data/state.ts';
import { Icon } from '../parts/icon.tsx';
import { Empty, useTitle } from '../parts/page.tsx';
import { go, goBack } from '../router.ts';
import { agoWords, fullTime } from '../time.ts';
import { Difference } from './difference.tsx';
import { readDocument } from './document-data.ts';
import { documentOf } from './tree-data.ts';

type Page = OutputOf<'get_document_history'>;

const WORDS: Record<string, string> = {
  created: 'wrote it',
  updated: 'changed it',
  moved: 'moved it',
  deleted: 'deleted it',
  restored: 'restored it',
  reverted: 'brought back an older revision',
};

/** Every change of a document: who, when, what it changed, and the way back. */
export function History({ id }: { id: string }) {
  const [rows, set] = useState<readonly DocumentRevision[]>([]);
  const [next, continueAt] = useState<string | null | undefined>();
  const [failed, fail] = useState<string | undefined>();
  const news = treeEvents.value.some((event) => documentOf(event)?.document_id === id)
    ? treeEvents.value
    : undefined;
  const title = rows[0]?.metadata.title ?? '';
  useTitle(`History of ${title}`);
  const load = async (after?: string): Promise<void> => {
    try {
      const query = after === undefined ? '' : `&after=${after}`;
      const page = await read<Page>(`/v1/documents/${encodeURIComponent(id)}/history?limit=50${query}`);
      set((before) => (after === undefined ? page.revisions : [...before, ...page.revisions]));
      continueAt(page.next_after);
    } catch (error) {
      fail(wordsOf(error));
    }
  };
  useEffect(() => void load(), [id, news]);
  return (
    <div class="doc">
      <header class="doc-head">
        <div class="doc-bar">
          <button
            type="button"
            class="button-quiet icon-button"
            aria-label="Back"
            onClick={() => goBack(`/know/${id}`)}
          >
            <Icon name="back" />
          </button>
          <h1>History</h1>
          <a class="meta" href={`/know/${id}`}>
            {title}
          </a>
        </div>
      </header>
      {failed === undefined ? null : <Empty title={failed} />}
      <ol class="revisions">
        {rows.map((row, i) => (
          <Revision key={row.revision} row={row} newest={rows[0]?.revision ?? 0} open={i === 0} />
        ))}
      </ol>
      {typeof next === 'string' ? (
        <button type="button" class="button button-wide" onClick={() => void load(next)}>
          Older changes
        </button>
      ) : null}
    </div>
  );
}

function Revision({ row, newest, open }: { row: DocumentRevision; newest: number; open: boolean }) {
  const { document_id, revision, action, by, at, reason } = row;
  const [shown, show] = useState(open);
  const [texts, set] = useState<readonly [string, string] | undefined>();
  const [failed, fail] = useState<string | undefined>();
  useEffect(() => {
    if (!shown || texts !== undefined) return;
    Promise.all([textOf(document_id, revision - 1), textOf(document_id, revision)]).then(
      ([before, after]) => set([before, after]),
      (error: unknown) => fail(wordsOf(error)),
    );
  }, [shown]);
  const back = (): Promise<boolean> =>
    attempt(async () => {
      await call('revert_document', {
        document_id,
        revision,
        last_known_revision: newest,
        idempotency_key: newKey(),
      });
      go(`/know/${document_id}`);
    }, `Revision ${revision} is back, as a new one.`);
  return (
    <li>
      <details class="revision" open={shown} onToggle={(event) => show(event.currentTarget.open)}>
        <summary data-row>
          <span class="revision-number">{revision}</span>
          <span class="row-text">
            <span>
              <b>{by}</b> {WORDS[action] ?? action}
            </span>
            <span class="meta">{reason ?? wordsFor(row.changed)}</span>
          </span>
          <time class="meta" dateTime={at} title={fullTime(at)}>
            {agoWords(at)}
          </time>
        </summary>
        {failed === undefined ? null : <p class="meta">{failed}</p>}
        {texts === undefined ? null : <Difference before={texts[0]} after={texts[1]} />}
        {maySteer() && revision !== newest ? (
          <div class="button-row">
            <button type="button" class="button" onClick={() => void back()}>
              <Icon name="reply" /> Bring this one back
            </button>
          </div>
        ) : null}
      </details>
    </li>
  );
}

const FIELDS: Record<string, string> = {
  content: 'text',
  'content.body': 'text',
  metadata: 'title and tags',
  'metadata.title': 'title',
  'metadata.tags': 'tags',
  parent_id: 'place',
  order: 'place',
};

function wordsFor(changed: readonly string[]): string {
  return [...new Set(changed.map((field) => FIELDS[field] ?? field.replace('metadata.', '')))].join(', ');
}

/** The text of a revision; before the first one there was none. */
async function textOf(id: string, revision: number): Promise<string> {
  if (revision < 1) return '';
  return (await readDocument(id, revision)).document.content.body;
}
