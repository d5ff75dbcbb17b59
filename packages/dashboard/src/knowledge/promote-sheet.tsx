import { useEffect, useState } from 'preact/hooks';

import { ApiError, call, newKey, wordsOf } from '../data/api.ts';
import type { ThreadRow } from '../data/state.ts';
import { Sheet } from '../parts/sheet.tsx';
import { say } from '../parts/toast.tsx';
import { go } from '../router.ts';
import { plural } from '../words.ts';
import { Tree } from './tree.tsx';
import { levels, loadLevel, ROOT } from './tree-data.ts';

/** Makes a document of a settled thread: under whom, and under which title. */
export function PromoteSheet({ thread, onClose }: { thread: ThreadRow; onClose: () => void }) {
  const [parent, choose] = useState(ROOT);
  const [title, write] = useState(thread.title);
  const [busy, work] = useState(false);
  useEffect(() => {
    if (!levels.peek().has(ROOT)) void loadLevel(ROOT);
  }, []);
  const lead = (id: string): void => {
    onClose();
    go(`/know/${id}`);
  };
  const promote = async (): Promise<void> => {
    work(true);
    try {
      const { id, cited } = await call('promote_thread', {
        thread_id: thread.thread_id,
        parent_id: parent,
        title: title.trim(),
        idempotency_key: newKey(),
      });
      say(`Made a document that cites ${plural(cited, 'entry', 'entries')}.`);
      lead(id);
    } catch (error) {
      const known = error instanceof ApiError ? error.details['document_id'] : undefined;
      say(typeof known === 'string' ? 'This thread has its document already.' : wordsOf(error), 'bad');
      if (typeof known === 'string') lead(known);
    }
    work(false);
  };
  return (
    <Sheet title="Make a document" onClose={onClose} wide>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void promote();
        }}
      >
        <p class="meta">
          Findings and what became of them, the work and its course; each statement cites its entry.
        </p>
        <label class="field">
          <span>Title</span>
          <input value={title} maxLength={200} onInput={(event) => write(event.currentTarget.value)} />
        </label>
        <p class="field-name">Under</p>
        <div class="picker scroll" tabIndex={0} role="group" aria-label="Under">
          <button
            type="button"
            class="tree-link tree-top"
            aria-pressed={parent === ROOT}
            onClick={() => choose(ROOT)}
          >
            At the top
          </button>
          <Tree current={parent} onPick={(leaf) => choose(leaf.document_id)} />
        </div>
        <button type="submit" class="button-primary button-wide" disabled={busy || title.trim() === ''}>
          Make the document
        </button>
      </form>
    </Sheet>
  );
}
