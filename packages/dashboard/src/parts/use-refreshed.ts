import { useEffect, useState } from 'preact/hooks';

import { wordsOf } from '../data/api.ts';

/** What a page fetches when it is opened, when what it is about changes, and every so often while somebody looks. */
export function useRefreshed<T>(
  load: () => Promise<T>,
  everyMs: number,
  about: readonly unknown[],
): { found: T | undefined; failed: string | undefined; again: () => void } {
  const [found, show] = useState<T | undefined>();
  const [failed, fail] = useState<string | undefined>();
  const [round, begin] = useState(0);
  useEffect(() => {
    let isOver = false;
    const fetchNow = (): void => {
      load().then(
        (news) => {
          if (isOver) return;
          show(news);
          fail(undefined);
        },
        (error: unknown) => {
          if (!isOver) fail(wordsOf(error));
        },
      );
    };
    fetchNow();
    const timer = setInterval(fetchNow, everyMs);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [...about, round]);
  return { found, failed, again: () => begin((n) => n + 1) };
}
