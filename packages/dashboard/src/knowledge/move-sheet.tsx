import { useEffect, useState } from 'preact/hooks';

import { attempt } from '../data/actions.ts';
import { call, newKey } from '../data/api.ts';
import { Sheet } from '../parts/sheet.tsx';
import type { Opened } from './document-data.ts';
import { Tree } from './tree.tsx';
import { levels, loadLevel, ROOT, toggle } from './tree-data.ts';

/** Gives a document another place: under whom, and before whom. */
export function MoveSheet({ document, onClose }: { document: Opened['document']; onClose: () => void }) {
  const { document_id, metadata, parent_id } = document;
  const [parent, choose] = useState({ id: parent_id, title: '' });
  const [before, place] = useState('');
  useEffect(() => {
    place('');
    if (!levels.peek().has(parent.id)) void loadLevel(parent.id);
  }, [parent.id]);
  const siblings = (levels.value.get(parent.id)?.rows ?? []).filter((one) => one.document_id !== document_id);
  const move = (): Promise<boolean> =>
    attempt(async () => {
      await call('move_document', {
        document_id,
        new_parent_id: parent.id,
        ...(before === '' ? {} : { position: { before } }),
        idempotency_key: newKey(),
      });
      if (parent.id !== ROOT) toggle(parent.id, true);
    }, `Moved ${metadata.title}.`);
  return (
    <Sheet title={`Move ${metadata.title}`} onClose={onClose} wide>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          void move();
        }}
      >
        <p class="field-name">Under</p>
        <div class="picker scroll" tabIndex={0} role="group" aria-label="Under">
          <button
            type="button"
            class="tree-link tree-top"
            aria-pressed={parent.id === ROOT}
            onClick={() => choose({ id: ROOT, title: '' })}
          >
            At the top
          </button>
          <Tree
            current={parent.id}
            without={document_id}
            onPick={(leaf) => choose({ id: leaf.document_id, title: leaf.metadata.title })}
          />
        </div>
        <label class="field">
          <span>Place</span>
          <select value={before} onChange={(event) => place(event.currentTarget.value)}>
            <option value="">Last</option>
            {siblings.map((one) => (
              <option key={one.document_id} value={one.document_id}>
                Before {one.metadata.title}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" class="button-primary button-wide">
          Move it here
        </button>
      </form>
    </Sheet>
  );
}
