import type { DUE_FIELDS, RecordKind, RecordKinds, RecordsQuery } from './records.ts';
import type { Store } from './store.ts';

/** So many values are read at once: whatever there is, no read is long. */
const PAGE = 500;

type Records = Pick<Store, 'records'>;
type Owned = { workspace_id: string };

/** Every value of a kind, or of a mark of it, over all workspaces. */
export async function* everyRecord<K extends RecordKind>(
  store: Records,
  kind: K,
  mark: string | undefined,
  keyOf: (value: RecordKinds[K]) => string,
): AsyncGenerator<RecordKinds[K] & Owned> {
  let after: RecordsQuery['after'];
  for (let more = true; more;) {
    const all = { kind, workspace_id: undefined, limit: PAGE };
    const query = mark === undefined ? all : { ...all, marks: [mark] };
    const page = await store.records<K>(after === undefined ? query : { ...query, after });
    const owned = ownedOf(page);
    yield* owned;
    const last = owned.at(-1);
    if (last !== undefined) after = { workspace_id: last.workspace_id, key: keyOf(last) };
    more = page.length === PAGE;
  }
}

/** Every value of one workspace whose key begins so. */
export async function everyWithPrefix<K extends RecordKind>(
  store: Records,
  query: { kind: K; workspace_id: string; prefix: string },
  keyOf: (value: RecordKinds[K]) => string,
): Promise<RecordKinds[K][]> {
  const found: RecordKinds[K][] = [];
  for (let more = true; more;) {
    const last = found.at(-1);
    const asked = { ...query, limit: PAGE };
    const page = await store.records<K>(last === undefined ? asked : { ...asked, past: keyOf(last) });
    found.push(...page);
    more = page.length === PAGE;
  }
  return found;
}

/** Hands over what is due, of one workspace at a time, until nothing is left or what is left stays. */
export async function takeDue<K extends keyof typeof DUE_FIELDS>(
  store: Records,
  query: { kind: K; mark: string; due_by: string | number },
  take: (workspace_id: string, values: RecordKinds[K][]) => Promise<void>,
): Promise<void> {
  const { kind, mark, due_by } = query;
  let seen: string | undefined;
  for (let more = true; more;) {
    const page = await store.records<K>({
      kind,
      workspace_id: undefined,
      marks: [mark],
      due_by,
      limit: PAGE,
    });
    const first = JSON.stringify(page[0]);
    // What could not be taken is looked at again at the next sweep, not over and over in this one.
    if (page.length === 0 || first === seen) return;
    seen = first;
    for (const [workspace_id, values] of byWorkspace(ownedOf(page))) await take(workspace_id, values);
    more = page.length === PAGE;
  }
}

/** Where a page of a list begins, and how long it is. */
export interface PageAsked {
  limit: number;
  after?: string | undefined;
}

/** How many pages are read for one where little is wanted of much. */
const MOST_PAGES = 10;

/**
 * A page of what a query names and `keep` lets pass, in the order of the keys, and where the next begins. It costs what
 * it holds; where little passes it may come out short.
 */
export async function readPage<K extends RecordKind>(
  store: Records,
  query: Omit<RecordsQuery<K>, 'limit' | 'past'>,
  { limit, after }: PageAsked,
  keyOf: (value: RecordKinds[K]) => string,
  keep: (value: RecordKinds[K]) => boolean = () => true,
): Promise<{ values: RecordKinds[K][]; next_after: string | null }> {
  const values: RecordKinds[K][] = [];
  let past = after;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    // The compiler loses what was left out and is put back.
    const asked = { ...query, limit: limit + 1 } as RecordsQuery<K>;
    const page = await store.records<K>(past === undefined ? asked : { ...asked, past });
    for (const value of page.slice(0, limit)) {
      if (values.length === limit) return { values, next_after: past ?? null };
      if (keep(value)) values.push(value);
      past = keyOf(value);
    }
    if (page.length <= limit) return { values, next_after: null };
    if (values.length === limit) break;
  }
  return { values, next_after: past ?? null };
}

/** Values that are read over all workspaces: those kinds name theirs in each. */
function ownedOf<V>(values: readonly V[]): (V & Owned)[] {
  // Only such kinds are listed over all workspaces.
  return values as (V & Owned)[];
}

function byWorkspace<T extends Owned>(values: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(value.workspace_id);
    if (group === undefined) groups.set(value.workspace_id, [value]);
    else group.push(value);
  }
  return groups;
}
