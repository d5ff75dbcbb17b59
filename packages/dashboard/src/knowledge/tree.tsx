import { useEffect } from 'preact/hooks';

import { typed } from '../data/state.ts';
import { Icon } from '../parts/icon.tsx';
import { Empty } from '../parts/page.tsx';
import { CodeLine } from '../parts/code-line.tsx';
import { type Leaf, levels, loadLevel, opened, ROOT, toggle } from './tree-data.ts';

interface TreeProps {
  current: string | undefined;
  /** Chooses a document instead of opening it. */
  onPick?: (leaf: Leaf) => void;
  /** A document that cannot be chosen, with all below it. */
  without?: string;
}

/** The documents by their places; what hangs below one comes when it is opened. */
export function Tree(props: TreeProps) {
  useEffect(() => {
    if (!levels.peek().has(ROOT)) void loadLevel(ROOT);
  }, []);
  const top = levels.value.get(ROOT);
  if (top === undefined) return <div class="skeleton" aria-busy="true" />;
  if (top.failed !== undefined && top.rows.length === 0) return <p class="ask-failed">{top.failed}</p>;
  if (top.rows.length === 0)
    return (
      <Empty title="Nothing is written down yet.">
        <p>Write the first document, or bring a folder of Markdown:</p>
        <CodeLine text={typed('know import ./docs')} />
      </Empty>
    );
  return (
    <nav aria-label="Documents">
      <Branches parent={ROOT} {...props} />
    </nav>
  );
}

function Branches({ parent, ...props }: TreeProps & { parent: string }) {
  const level = levels.value.get(parent);
  if (level === undefined) return <p class="meta tree-wait">Loading</p>;
  return (
    <ul class="tree">
      {level.rows
        .filter(({ document_id }) => document_id !== props.without)
        .map((leaf) => (
          <Branch key={leaf.document_id} leaf={leaf} {...props} />
        ))}
      {level.failed === undefined ? null : <li class="ask-failed">{level.failed}</li>}
      {level.next === null ? null : (
        <li>
          <button type="button" class="button-quiet tree-more" onClick={() => void loadLevel(parent, true)}>
            More
          </button>
        </li>
      )}
    </ul>
  );
}

function Branch({ leaf, ...props }: TreeProps & { leaf: Leaf }) {
  const { document_id, metadata, has_children, delete_at } = leaf;
  const open = has_children && opened.value.has(document_id);
  const { current, onPick } = props;
  const label = (
    <>
      <Icon name={has_children ? 'folder' : 'page'} size={18} />
      <span class="tree-title">{metadata.title}</span>
      {delete_at === undefined ? null : <span class="tag">to be deleted</span>}
    </>
  );
  return (
    <li>
      <div class={current === document_id ? 'tree-row tree-current' : 'tree-row'}>
        {has_children ? (
          <button
            type="button"
            class="tree-toggle"
            aria-expanded={open}
            aria-label={`What is below ${metadata.title}`}
            onClick={() => toggle(document_id)}
          >
            <Icon name="right" size={16} />
          </button>
        ) : (
          <span class="tree-gap" />
        )}
        {onPick === undefined ? (
          <a
            class="tree-link"
            href={`/know/${document_id}`}
            data-row
            {...(current === document_id ? { 'aria-current': 'page' as const } : {})}
          >
            {label}
          </a>
        ) : (
          <button
            type="button"
            class="tree-link"
            aria-pressed={current === document_id}
            onClick={() => onPick(leaf)}
          >
            {label}
          </button>
        )}
      </div>
      {open ? <Branches parent={document_id} {...props} /> : null}
    </li>
  );
}
