import type { RecordKind } from '@parley/core';

import type { AskedList, KnownList } from './known-list.ts';

/** The lists that a transaction knows, found by name, and by what is put or dropped: of ten thousand a record is in few. */
export class KnownLists {
  readonly #byName = new Map<string, AskedList & { known: KnownList }>();
  /** Names by kind and workspace, by the length of the prefix that keys have, and by that prefix. */
  readonly #namesByKind = new Map<string, Map<number, Map<string, Set<string>>>>();

  get(name: string): KnownList | undefined {
    return this.#byName.get(name)?.known;
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  set(name: string, list: AskedList & { known: KnownList }): void {
    this.#byName.set(name, list);
    const { kind, prefix = '' } = list.asked;
    const byLength = within(this.#namesByKind, `${kind} ${list.workspace_id}`, () => new Map());
    const byPrefix = within(byLength, prefix.length, () => new Map());
    within(byPrefix, prefix, () => new Set()).add(name);
  }

  /** Changes the lists that a key may be in; one that does not know its rows any more is forgotten. */
  change(kind: RecordKind, workspaceId: string, key: string, change: (list: KnownList) => boolean): void {
    for (const [length, byPrefix] of this.#namesByKind.get(`${kind} ${workspaceId}`) ?? [])
      for (const name of byPrefix.get(key.slice(0, length)) ?? []) {
        const known = this.get(name);
        if (known !== undefined && !change(known)) this.#byName.delete(name);
      }
  }
}

function within<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const there = map.get(key);
  if (there !== undefined) return there;
  const made = make();
  map.set(key, made);
  return made;
}
