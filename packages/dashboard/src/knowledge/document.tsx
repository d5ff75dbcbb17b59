import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { maySteer } from '../data/actions.ts';
import { Icon } from '../parts/icon.tsx';
import { Empty, Section, useTitle } from '../parts/page.tsx';
import { go, goBack, place } from '../router.ts';
import { agoWords, fullTime } from '../time.ts';
import { DocumentMenu } from './document-menu.tsx';
import { type Links, type Opened, useDocument } from './document-data.ts';
import { draftOf } from './draft.ts';
import { nameKey, toBlocks } from './markup.ts';
import { toggle } from './tree-data.ts';

/** A document: what it says, where it stands, what it leads to and what leads to it. */
export function DocumentView({ id }: { id: string }) {
  const { opened, links, failed, missing } = useDocument(id);
  useTitle(opened?.document.metadata.title ?? 'Document');
  useEffect(() => {
    for (const { document_id } of opened?.path ?? []) toggle(document_id, true);
  }, [opened?.path.map(({ document_id }) => document_id).join()]);
  if (opened === undefined || opened.document.document_id !== id)
    return failed === undefined ? (
      <div class="doc" aria-busy="true">
        <div class="skeleton" />
      </div>
    ) : (
      <div class="doc">
        <Empty title={missing === true ? 'This document does not exist, or was deleted.' : failed}>
          <a href="/know/deleted">Deleted documents</a>
        </Empty>
      </div>
    );
  return (
    <>
      <article class="doc">
        <Head opened={opened} />
        <Body opened={opened} links={links} />
      </article>
      <aside class="doc-side" aria-label="About this document">
        <Around links={links} id={id} />
      </aside>
    </>
  );
}

/** Where a document hangs, for those who want to go up. */
function Crumbs({ path }: { path: Opened['path'] }) {
  return (
    <nav class="crumbs" aria-label="Above this document">
      <a href="/know">Knowledge</a>
      {path.map(({ document_id, title }) => (
        <a key={document_id} href={`/know/${document_id}`}>
          {title}
        </a>
      ))}
    </nav>
  );
}

function Head({ opened }: { opened: Opened }) {
  const { document, path } = opened;
  const { document_id, metadata, revision, updated_at, updated_by, delete_at } = document;
  const [menu, show] = useState(false);
  return (
    <header class="doc-head">
      <div class="doc-bar">
        <button
          type="button"
          class="button-quiet icon-button doc-back"
          aria-label="Back"
          onClick={() => goBack('/know')}
        >
          <Icon name="back" />
        </button>
        <Crumbs path={path} />
        <div class="doc-actions">
          {maySteer() ? (
            <a class="button" href={`/know/${document_id}/edit`} data-key="e">
              <Icon name="pencil" /> Edit
            </a>
          ) : null}
          <button
            type="button"
            class="button-quiet icon-button"
            aria-label="More about this document"
            onClick={() => show(true)}
          >
            <Icon name="more" />
          </button>
        </div>
      </div>
      <h1>{metadata.title}</h1>
      <p class="meta doc-meta">
        <a href={`/know/${document_id}/history`}>revision {revision}</a>
        <span title={fullTime(updated_at)}>
          {updated_by}, {agoWords(updated_at)}
        </span>
        {(metadata.tags ?? []).map((tag) => (
          <span key={tag} class="tag">
            {tag}
          </span>
        ))}
      </p>
      {delete_at === undefined ? null : (
        <p class="banner">
          <Icon name="warn" size={16} /> It will be deleted at {fullTime(delete_at)}.
        </p>
      )}
      {draftOf(document_id) === undefined || !maySteer() ? null : (
        <p class="banner">
          <Icon name="info" size={16} />
          <span>
            You have changes here that are not saved. <a href={`/know/${document_id}/edit`}>Go on</a>
          </span>
        </p>
      )}
      {menu ? <DocumentMenu opened={opened} onClose={() => show(false)} /> : null}
    </header>
  );
}

/** The place that a search has found, as the address tells it. */
function foundPlace(): { from: number; to: number } | undefined {
  const match = /^(\d+)-(\d+)$/.exec(place.value.query.get('at') ?? '');
  return match === null ? undefined : { from: Number(match[1]), to: Number(match[2]) };
}

function Body({ opened, links }: { opened: Opened; links: Links | undefined }) {
  const { content, document_id, revision } = opened.document;
  const byName = useMemo(
    () => new Map((links?.links ?? []).map(({ name, document_id: to }) => [name, to ?? undefined])),
    [links],
  );
  const blocks = useMemo(
    () =>
      content.mime_type === 'text/markdown'
        ? toBlocks(content.body, (name) => byName.get(nameKey(name)))
        : undefined,
    [content.body, byName],
  );
  const box = useRef<HTMLDivElement>(null);
  const wanted = foundPlace();
  const since = Number(place.value.query.get('rev') ?? revision);
  const isFound = ({ from, to }: { from: number; to: number }): boolean =>
    wanted !== undefined && since === revision && from < wanted.to && to > wanted.from;
  useEffect(() => {
    if (wanted !== undefined) box.current?.querySelector('.block-found')?.scrollIntoView({ block: 'center' });
  }, [document_id, revision, wanted?.from, wanted?.to]);
  if (content.body.trim() === '') return <p class="meta">Nothing is written here yet.</p>;
  return (
    <div class="prose doc-body" ref={box}>
      {wanted !== undefined && since !== revision ? (
        <p class="banner">
          <Icon name="info" size={16} />
          <span>
            This text has changed since it was found. <a href={`/know/${document_id}/history`}>How</a>
          </span>
        </p>
      ) : null}
      {blocks === undefined ? (
        <pre class="doc-plain" tabIndex={0}>
          {content.body}
        </pre>
      ) : (
        blocks.map((block) =>
          block.markup === undefined ? (
            <div
              key={block.from}
              class={isFound(block) ? 'block prose-plain block-found' : 'block prose-plain'}
            >
              {block.text}
            </div>
          ) : (
            <div
              key={block.from}
              class={isFound(block) ? 'block block-found' : 'block'}
              dangerouslySetInnerHTML={{ __html: block.markup }}
            />
          ),
        )
      )}
    </div>
  );
}

function Around({ links, id }: { links: Links | undefined; id: string }) {
  const out = links?.links ?? [];
  const into = links?.backlinks ?? [];
  if (links === undefined || (out.length === 0 && into.length === 0)) return null;
  return (
    <>
      {out.length === 0 ? null : (
        <Section title="Leads to" count={out.length}>
          <ul class="links">
            {out.map(({ name, document_id, title }) => (
              <li key={name}>
                {document_id === null ? (
                  <button
                    type="button"
                    class="link-missing"
                    disabled={!maySteer()}
                    onClick={() => go(`/know/new?under=${id}&title=${encodeURIComponent(name)}`)}
                  >
                    <Icon name="plus" size={16} /> {name} <span class="meta">not written yet</span>
                  </button>
                ) : (
                  <a href={`/know/${document_id}`}>
                    <Icon name="page" size={16} /> {title ?? name}
                  </a>
                )}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {into.length === 0 ? null : (
        <Section title="Mentioned in" count={into.length}>
          <ul class="links">
            {into.map(({ document_id, title }) => (
              <li key={document_id}>
                <a href={`/know/${document_id}`}>
                  <Icon name="page" size={16} /> {title}
                </a>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}
