import { useState } from 'preact/hooks';

import { maySteer } from '../data/actions.ts';
import { threads } from '../data/state.ts';
import { Icon } from '../parts/icon.tsx';
import { NewThread } from '../parts/new-thread.tsx';
import { Page } from '../parts/page.tsx';
import { ThreadFilters } from '../parts/thread-filters.tsx';
import { ThreadList } from '../parts/thread-list.tsx';
import { go, place } from '../router.ts';
import { Skeleton } from './now.tsx';

/** Every conversation of the workspace. */
export function ThreadsPage() {
  const [making, make] = useState(false);
  const isWished = place.value.query.has('new');
  const done = (): void => {
    make(false);
    if (isWished) go('/threads', 'replace');
  };
  return (
    <Page
      title="Threads"
      actions={
        maySteer() ? (
          <button type="button" class="button-primary" data-key="c" onClick={() => make(true)}>
            <Icon name="plus" /> New thread
          </button>
        ) : null
      }
    >
      {threads.value === undefined ? <Skeleton /> : <ThreadList filters={ThreadFilters} />}
      {making || isWished ? <NewThread onClose={done} /> : null}
    </Page>
  );
}
