import { type OutputOf, type ThreadEvent, fieldsOf } from '@parley/protocol';
import { effect, signal } from '@preact/signals';

import { call, wordsOf } from '../data/api.ts';
import { treeEvents } from '../data/state.ts';
import { createSoon } from '../soon.ts';

/** Where the tree begins. */
export const ROOT = 'root';

/** A document as the tree shows it. */
export type Leaf = OutputOf<'list_documents'>['documents'][number];

/** What hangs right under one document, as far as it was fetched. */
interface Level {
  rows: readonly Leaf[];
  next: string | null;
  failed?: string;
}

const PAGE = 100;
const SETTLE_MS = 150;

/** The levels of the tree that somebody has looked at, by the document above them. */
export const levels = signal<ReadonlyMap<string, Level>>(new Map());

/** Which documents show what hangs below them. */
export const opened = signal<ReadonlySet<string>>(new Set());

function put(parent: string, level: Level): void {
  levels.value = new Map(levels.value).set(parent, level);
}

/** Fetches what hangs under a document, or the next page of it. */
export async function loadLevel(parent: string, more = false): Promise<void> {
  const held = levels.peek().get(parent);
  try {
    const after = more ? held?.next : undefined;
    const page = await call('list_documents', {
      parent_id: parent,
      limit: Math.max(PAGE, more ? 0 : Math.min(500, held?.rows.length ?? 0)),
      ...(typeof after === 'string' ? { after } : {}),
    });
    const before = more ? (held?.rows ?? []) : [];
    put(parent, { rows: [...before, ...page.documents], next: page.next_after });
  } catch (error) {
    put(parent, { rows: held?.rows ?? [], next: null, failed: wordsOf(error) });
  }
}

/** Shows what hangs below a document, or hides it again. */
export function toggle(id: string, open = !opened.peek().has(id)): void {
  const next = new Set(opened.peek());
  if (open) next.add(id);
  else next.delete(id);
  opened.value = next;
  if (open && !levels.peek().has(id)) void loadLevel(id);
}

/** A document that the tree has shown, by its id. */
export function known(id: string): Leaf | undefined {
  for (const { rows } of levels.value.values()) {
    const found = rows.find(({ document_id }) => document_id === id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The document that an entry of the log tells of. */
export function documentOf({ content }: ThreadEvent): { document_id: string; revision: number } | undefined {
  const reported = Object.values(fieldsOf(content))[0];
  // The hub tells by its contract.
  return (reported as { document?: { document_id: string; revision: number } } | undefined)?.document;
}

const soon = createSoon(SETTLE_MS);

// Whatever happens to a document, the levels in sight are asked for again: who hangs where can change on several.
effect(() => {
  if (treeEvents.value.length === 0) return;
  soon.ask(() => {
    for (const parent of levels.peek().keys()) void loadLevel(parent);
  });
});
