import type { DUE_FIELDS, RecordKind, RecordKinds, RecordsQuery } from './records.ts';
import type { Store } from './store.ts';

/** So many values are read at once: whatever there is, no read is long. */
const PAGE = 500;

type Records = Pick<Store, 'records'>;
type Owned = { workspace_id: string };

/** Every value of a kind, or of a mark of it, over all workspaces; or those after one of them. */
export async function* everyRecord<K extends RecordKind>(
  store: Records,
  kind: K,
  mark: string | undefined,
  keyOf: (value: RecordKinds[K]) => string,
  begin?: RecordsQuery['after'],
): AsyncGenerator<RecordKinds[K] & Owned> {
  let after = begin;
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

/** The values of one workspace under these keys, however many they are. */
export async function recordsAt<K extends RecordKind>(
  store: Records,
  query: { kind: K; workspace_id: string },
  keys: readonly string[],
): Promise<RecordKinds[K][]> {
  const found: RecordKinds[K][] = [];
  for (let i = 0; i < keys.length; i += PAGE) {
    const some = keys.slice(i, i + PAGE);
    found.push(...(await store.records<K>({ ...query, keys: some, limit: some.length })));
  }
  return found;
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

/** How many pages are read for one where little is wanted of much, and how much at least is looked at with each. */
const MOST_PAGES = 10;
const LEAST_LOOKED_AT = 50;

/**
 * A page of what a query names and `keep` lets pass, in the order of the keys, and where the next begins. It costs what
 * it holds; where little passes it may come out short.
 */
export async function readPage<K extends RecordKind>(
  store: Records,
  query: Omit<RecordsQuery<K>, 'limit' | 'past'>,
  { limit, after }: PageAsked,
  keyOf: (value: RecordKinds[K]) => string,
  keep?: (value: RecordKinds[K]) => boolean,
): Promise<{ values: RecordKinds[K][]; next_after: string | null }> {
  const values: RecordKinds[K][] = [];
  let past = after;
  const size = keep === undefined ? limit : Math.max(limit, LEAST_LOOKED_AT);
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    // The compiler loses what was left out and is put back.
    const asked = { ...query, limit: size + 1 } as RecordsQuery<K>;
    const page = await store.records<K>(past === undefined ? asked : { ...asked, past });
    for (const value of page.slice(0, size)) {
      if (values.length === limit) return { values, next_after: past ?? null };
      if (keep === undefined || keep(value)) values.push(value);
      past = keyOf(value);
    }
    if (page.length <= size) return { values, next_after: null };
    if (values.length === limit) break;
  }
  return { values, next_after: past ?? null };
}

/** A page of values that are at hand, in the order of their keys, and where the next begins. */
export function pageOf<V>(
  all: readonly V[],
  { limit, after }: PageAsked,
  keyOf: (value: V) => string,
): { values: V[]; next_after: string | null } {
  const rest = after === undefined ? all : all.filter((one) => keyOf(one) > after);
  const values = rest.slice(0, limit);
  const last = values.at(-1);
  return { values, next_after: rest.length > limit && last !== undefined ? keyOf(last) : null };
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
