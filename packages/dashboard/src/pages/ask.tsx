import { useEffect, useState } from 'preact/hooks';

import { read, wordsOf } from '../data/api.ts';
import { type AskRow, asks } from '../data/state.ts';
import { AskCard } from '../parts/ask-card.tsx';
import { Empty, Page } from '../parts/page.tsx';

/** One request by itself, as a notification or a link leads to it. */
export function AskPage({ id }: { id: string }) {
  const live = asks.value.get(id);
  const [kept, keep] = useState<AskRow | undefined>();
  const [failed, fail] = useState<string | undefined>();
  useEffect(() => {
    read<AskRow>(`/v1/asks/${encodeURIComponent(id)}`).then(
      (found) => {
        keep(found);
        // It can be answered before the list of all of them is there.
        if (found.ask.status === 'open' && !asks.value.has(id))
          asks.value = new Map(asks.value).set(id, { ask: found.ask });
      },
      (error: unknown) => fail(wordsOf(error)),
    );
  }, [id, live?.ask.status]);
  const row = live ?? kept;
  return (
    <Page title="Request">
      {row === undefined ? (
        failed === undefined ? (
          <div class="skeleton" />
        ) : (
          <Empty title={failed} />
        )
      ) : (
        <>
          <h2 class="sr">What is asked</h2>
          <AskCard row={row} />
        </>
      )}
      <p class="after-card">
        <a href="/now">All that needs you</a>
      </p>
    </Page>
  );
}
