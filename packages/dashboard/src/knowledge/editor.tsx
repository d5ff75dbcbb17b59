import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { ApiError, call, newKey, wordsOf } from '../data/api.ts';
import { treeEvents } from '../data/state.ts';
import { Icon } from '../parts/icon.tsx';
import { useTitle } from '../parts/page.tsx';
import { say } from '../parts/toast.tsx';
import { go, place } from '../router.ts';
import { Conflict } from './conflict.tsx';
import { type Opened, readDocument } from './document-data.ts';
import { type Draft, draftOf, dropDraft, keepDraft, tagsIn } from './draft.ts';
import { toBlocks } from './markup.ts';
import { documentOf, ROOT, toggle } from './tree-data.ts';

/** Writes a document, or one that is `new`; what is typed survives a reload, a lost connection and somebody who was faster. */
export function Editor({ id }: { id: string }) {
  const [draft, set] = useState<Draft | undefined>();
  const [theirs, take] = useState<Opened | undefined>();
  const [failed, fail] = useState<string | undefined>();
  const [busy, work] = useState(false);
  const [previewed, preview] = useState(false);
  useTitle(id === 'new' ? 'New document' : `Edit ${draft?.title ?? ''}`);
  useEffect(() => {
    start(id).then(set, (error: unknown) => fail(wordsOf(error)));
  }, [id]);
  const overtaken = treeEvents.value
    .map(documentOf)
    .some((one) => one?.document_id === id && one.revision > (draft?.base ?? Infinity));
  useEffect(() => {
    // What is being saved is heard of here too, and is nobody else's.
    if (overtaken && !busy) void readDocument(id).then(take, () => {});
  }, [overtaken]);
  const change = (part: Partial<Draft>): void => {
    if (draft === undefined) return;
    const next = { ...draft, ...part };
    set(next);
    keepDraft(id, next);
  };
  const leave = (): void => {
    dropDraft(id);
    go(
      id === 'new' ? (draft?.under === undefined ? '/know' : `/know/${draft.under}`) : `/know/${id}`,
      'replace',
    );
  };
  const save = async (): Promise<void> => {
    if (draft === undefined || busy) return;
    work(true);
    fail(undefined);
    try {
      const saved = id === 'new' ? await create(draft) : await update(id, draft);
      dropDraft(id);
      say(id === 'new' ? 'Written.' : `Saved as revision ${saved.revision}.`);
      go(`/know/${saved.id}`, 'replace');
    } catch (error) {
      if (error instanceof ApiError && error.code === 'CONFLICT' && id !== 'new')
        await readDocument(id).then(take, (why: unknown) => fail(wordsOf(why)));
      else fail(wordsOf(error));
    } finally {
      work(false);
    }
  };
  if (draft === undefined)
    return failed === undefined ? <div class="doc skeleton" /> : <p class="doc ask-failed">{failed}</p>;
  return (
    <form
      class="doc editor"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={(event) => {
        if (event.key !== 's' || !(event.metaKey || event.ctrlKey)) return;
        event.preventDefault();
        void save();
      }}
    >
      <header class="doc-bar">
        <h1>{id === 'new' ? 'New document' : 'Edit'}</h1>
        <span class="meta">{draft.base === 0 ? '' : `from revision ${draft.base}`}</span>
        <div class="doc-actions">
          <button type="button" class="button" onClick={leave}>
            Discard
          </button>
          <button type="submit" class="button-primary" disabled={busy || draft.title.trim() === ''}>
            <Icon name="check" /> {busy ? 'Saving' : 'Save'}
          </button>
        </div>
      </header>
      {failed === undefined ? null : (
        <p class="ask-failed" role="alert">
          <Icon name="warn" size={16} /> {failed} What you wrote is kept here.
        </p>
      )}
      {theirs === undefined || theirs.document.revision === draft.base ? null : (
        <Conflict
          draft={draft}
          theirs={theirs}
          onTakeTheirs={leave}
          onGoOn={(body) => {
            const { revision, content } = theirs.document;
            change({ base: revision, before: content.body, ...(body === undefined ? {} : { body }) });
            take(undefined);
          }}
        />
      )}
      <label class="field">
        <span>Title</span>
        <input
          value={draft.title}
          maxLength={200}
          required
          onInput={(event) => change({ title: event.currentTarget.value })}
        />
      </label>
      <label class="field">
        <span>Tags, with commas between them</span>
        <input value={draft.tags} onInput={(event) => change({ tags: event.currentTarget.value })} />
      </label>
      <div class="segments" role="group" aria-label="How the text is shown">
        <button type="button" aria-pressed={!previewed} onClick={() => preview(false)}>
          Write
        </button>
        <button type="button" aria-pressed={previewed} onClick={() => preview(true)}>
          Preview
        </button>
      </div>
      {previewed ? <Preview title={draft.title} body={draft.body} /> : null}
      <label class={previewed ? 'field editor-text editor-hidden' : 'field editor-text'}>
        <span>Text, in Markdown; [[Title]] leads to another document</span>
        <textarea
          class="mono"
          rows={18}
          value={draft.body}
          onInput={(event) => change({ body: event.currentTarget.value })}
        />
      </label>
    </form>
  );
}

/** The text as it will be read; names of other documents lead nowhere yet. */
function Preview({ title, body }: { title: string; body: string }) {
  const blocks = useMemo(() => toBlocks(body, () => undefined), [body]);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    void import('../parts/rich-text.ts').then(({ enrich }) => {
      if (box.current !== null) enrich(box.current);
    });
  }, [body]);
  return (
    <div ref={box} class="doc-body prose editor-preview" role="region" aria-label={`Preview of ${title}`}>
      {body.trim() === '' ? <p class="meta">Nothing is written yet.</p> : null}
      {blocks.map((block) =>
        block.markup === undefined ? (
          <div key={block.from} class="prose-plain">
            {block.text}
          </div>
        ) : (
          <div key={block.from} dangerouslySetInnerHTML={{ __html: block.markup }} />
        ),
      )}
    </div>
  );
}

/** The draft that is there, or a fresh one upon the document as it is now. */
async function start(id: string): Promise<Draft> {
  const kept = draftOf(id);
  const { query } = place.peek();
  const under = query.get('under') ?? undefined;
  if (id === 'new') {
    if (kept !== undefined && (kept.title !== '' || kept.body !== ''))
      return under === undefined ? kept : { ...kept, under };
    const fresh = { base: 0, title: query.get('title') ?? '', tags: '', body: '', before: '' };
    return under === undefined ? fresh : { ...fresh, under };
  }
  if (kept !== undefined) return kept;
  const { revision, metadata, content } = (await readDocument(id)).document;
  const tags = (metadata.tags ?? []).join(', ');
  return { base: revision, title: metadata.title, tags, body: content.body, before: content.body };
}

async function create({ title, tags, body, under }: Draft) {
  const saved = await call('create_document', {
    document_id: crypto.randomUUID(),
    parent_id: under ?? ROOT,
    content: { mime_type: 'text/markdown', body },
    metadata: { title: title.trim(), ...(tagsIn(tags).length === 0 ? {} : { tags: tagsIn(tags) }) },
    idempotency_key: newKey(),
  });
  if (under !== undefined) toggle(under, true);
  return saved;
}

function update(id: string, { base, title, tags, body }: Draft) {
  const list = tagsIn(tags);
  return call('update_document', {
    document_id: id,
    patch: { content: { body }, metadata: { title: title.trim(), tags: list.length === 0 ? null : list } },
    update_mask: ['content.body', 'metadata.title', 'metadata.tags'],
    last_known_revision: base,
    idempotency_key: newKey(),
  });
}
