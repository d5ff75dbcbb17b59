import { LIMITS } from './limits.ts';

interface Listed {
  next_after: string | null;
}

/** Everything that a paged list holds, over as many pages as that takes, or the first `most` of it. */
export async function readAll<P extends Listed, T>(
  page: (place: { limit: number; after?: string }) => Promise<P>,
  itemsOf: (page: P) => readonly T[],
  most = Infinity,
): Promise<T[]> {
  const items: T[] = [];
  let after: string | null | undefined;
  while (after !== null && items.length < most) {
    const found: P = await page({ limit: LIMITS.page_max, ...(after === undefined ? {} : { after }) });
    items.push(...itemsOf(found));
    after = found.next_after;
  }
  return items;
}
