import { useState } from 'preact/hooks';

import { maySteer } from '../data/actions.ts';
import { threads } from '../data/state.ts';
import { Icon } from '../parts/icon.tsx';
import { NewThread } from '../parts/new-thread.tsx';
import { Page } from '../parts/page.tsx';
import { ThreadList } from '../parts/thread-list.tsx';
import { Skeleton } from './now.tsx';

/** Every conversation of the workspace. */
export function ThreadsPage() {
  const [making, make] = useState(false);
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
      {threads.value === undefined ? <Skeleton /> : <ThreadList />}
      {making ? <NewThread onClose={() => make(false)} /> : null}
    </Page>
  );
}
