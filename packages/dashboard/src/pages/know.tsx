import { useEffect } from 'preact/hooks';

import { Deleted } from '../knowledge/deleted.tsx';
import { readDocument } from '../knowledge/document-data.ts';
import { DocumentView } from '../knowledge/document.tsx';
import { Editor } from '../knowledge/editor.tsx';
import { History } from '../knowledge/history.tsx';
import { Results } from '../knowledge/results.tsx';
import { toggle } from '../knowledge/tree-data.ts';
import { Tree } from '../knowledge/tree.tsx';
import { maySteer } from '../data/actions.ts';
import { Icon } from '../parts/icon.tsx';
import { useTitle } from '../parts/page.tsx';
import { go, place } from '../router.ts';

/** What the workspace knows: the tree, a search over it, and one document at a time. */
export function KnowPage({ id, view }: { id: string; view: string | undefined }) {
  const query = place.value.query.get('q') ?? '';
  const alone = id === '' && query === '';
  useEffect(() => {
    if (view === 'edit' || view === 'history') void reveal(id);
  }, [id, view]);
  return (
    <div class={alone ? 'know know-alone' : query === '' ? 'know' : 'know know-asked'}>
      <section class="know-tree scroll" aria-label="Knowledge" tabIndex={-1}>
        <header class="page-head">
          {alone ? <h1>Knowledge</h1> : <p class="know-name">Knowledge</p>}
          <div class="page-actions">
            {maySteer() ? (
              <a
                class="button icon-button"
                href={id === '' || id === 'new' || id === 'deleted' ? '/know/new' : `/know/new?under=${id}`}
                aria-label="New document"
                data-key="c"
              >
                <Icon name="plus" />
              </a>
            ) : null}
          </div>
        </header>
        <label class="search">
          <Icon name="search" />
          <span class="sr">Search or ask the documents</span>
          <input
            type="search"
            value={query}
            placeholder="Search or ask"
            autocomplete="off"
            onInput={(event) => seek(event.currentTarget.value)}
          />
        </label>
        <Tree current={id} />
        <p class="section-links">
          <a href="/know/deleted">Deleted documents</a>
        </p>
      </section>
      <section class="know-main scroll" aria-label="Document" tabIndex={-1}>
        {query !== '' ? <Results query={query} /> : <Shown id={id} view={view} />}
      </section>
    </div>
  );
}

/** Opens the tree down to a document that is shown by another page than its own. */
async function reveal(id: string): Promise<void> {
  const { path } = await readDocument(id).catch(() => ({ path: [] }));
  for (const { document_id } of path) toggle(document_id, true);
}

/** A search takes the place of what is open; going back finds it again. */
function seek(text: string): void {
  const path = text === '' ? '/know' : `/know?q=${encodeURIComponent(text)}`;
  go(path, place.peek().query.has('q') || place.peek().params[0] === '' ? 'replace' : 'push');
}

function Shown({ id, view }: { id: string; view: string | undefined }) {
  if (id === '') return <Welcome />;
  if (id === 'new') return <Editor key="new" id="new" />;
  if (id === 'deleted') return <Deleted />;
  if (view === 'edit') return <Editor key={id} id={id} />;
  if (view === 'history') return <History key={id} id={id} />;
  return <DocumentView key={id} id={id} />;
}

/** What stands beside the tree while no document is open. */
function Welcome() {
  useTitle('Knowledge');
  return (
    <div class="doc doc-none">
      <p class="meta">Choose a document, or ask all of them.</p>
    </div>
  );
}
