import type { OutputOf } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { attempt, maySteer } from '../data/actions.ts';
import { call, newKey, wordsOf } from '../data/api.ts';
import { treeEvents } from '../data/state.ts';
import { Icon } from '../parts/icon.tsx';
import { Empty, useTitle } from '../parts/page.tsx';
import { Row } from '../parts/row.tsx';
import { go, goBack, place } from '../router.ts';
import { agoWords, fullTime } from '../time.ts';
import { known, ROOT } from './tree-data.ts';

type Gone = OutputOf<'list_documents'>['documents'][number];

const MOST = 100;

/** The first of what was deleted under a document: between much that is there a page of it may be short. */
async function deletedUnder(parent_id: string): Promise<Gone[]> {
  const rows: Gone[] = [];
  let begin = {};
  for (let more = true; more;) {
    const asked = { parent_id, deleted: true, limit: MOST, ...begin };
    const { documents, next_after } = await call('list_documents', asked);
    rows.push(...documents);
    begin = { after: next_after };
    more = next_after !== null && rows.length < MOST;
  }
  return rows;
}

/** What was deleted right under a document, or at the top, with the way back. */
export function Deleted() {
  const under = place.value.query.get('under') ?? ROOT;
  const [rows, set] = useState<readonly Gone[] | undefined>();
  const [failed, fail] = useState<string | undefined>();
  useTitle('Deleted documents');
  useEffect(() => {
    deletedUnder(under).then(set, (error: unknown) => fail(wordsOf(error)));
  }, [under, treeEvents.value]);
  const title = known(under)?.metadata.title;
  return (
    <div class="doc">
      <header class="doc-head">
        <div class="doc-bar">
          <button
            type="button"
            class="button-quiet icon-button"
            aria-label="Back"
            onClick={() => goBack('/know')}
          >
            <Icon name="back" />
          </button>
          <h1>Deleted</h1>
          <span class="meta">{under === ROOT ? 'at the top' : `below ${title ?? 'a document'}`}</span>
        </div>
      </header>
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      {rows?.length === 0 ? <Empty title="Nothing was deleted here in the last 90 days." /> : null}
      {rows === undefined || rows.length === 0 ? null : (
        <div class="list">
          {rows.map((row) => (
            <Row
              key={row.document_id}
              icon="page"
              title={row.metadata.title}
              lines={
                <span class="row-line">
                  {row.deleted_by ?? ''}, {agoWords(row.delete_at ?? '')}
                  {row.delete_reason === undefined ? '' : `: ${row.delete_reason}`}
                  {row.purge_at === undefined ? '' : ` · for good on ${fullTime(row.purge_at)}`}
                </span>
              }
            >
              {maySteer() ? (
                <button type="button" class="button" onClick={() => void restore(row)}>
                  Restore
                </button>
              ) : null}
            </Row>
          ))}
        </div>
      )}
    </div>
  );
}

function restore({ document_id, metadata }: Gone): Promise<boolean> {
  return attempt(async () => {
    await call('restore_document', { document_id, idempotency_key: newKey() });
    go(`/know/${document_id}`);
  }, `${metadata.title} is back.`);
}
