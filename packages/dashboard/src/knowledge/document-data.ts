import type { OutputOf } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { ApiError, call, read, wordsOf } from '../data/api.ts';
import { treeEvents } from '../data/state.ts';
import { documentOf } from './tree-data.ts';

/** A document with its text and its place. */
export type Opened = OutputOf<'get_document'>;

/** Where a document leads, and what leads to it. */
export type Links = OutputOf<'get_document_links'>;

interface Shown {
  opened?: Opened;
  links?: Links;
  failed?: string;
  /** It is not there, or not any more. */
  missing?: boolean;
}

/** Reads a document, as it is or as it was in a revision. */
export function readDocument(id: string, revision?: number): Promise<Opened> {
  const query = revision === undefined ? '' : `?revision=${revision}`;
  return read<Opened>(`/v1/documents/${encodeURIComponent(id)}${query}`);
}

/** A document in the state it has now: a change by anybody is shown as it happens. */
export function useDocument(id: string): Shown {
  const [shown, show] = useState<Shown>({});
  const news = treeEvents.value.some((event) => documentOf(event)?.document_id === id)
    ? treeEvents.value
    : undefined;
  useEffect(() => {
    let gone = false;
    Promise.all([readDocument(id), call('get_document_links', { document_id: id, limit: 100 })]).then(
      ([found, links]) => (gone ? undefined : show({ opened: found, links })),
      (error: unknown) => {
        if (gone) return;
        const missing = error instanceof ApiError && error.code === 'NOT_FOUND';
        show({ failed: wordsOf(error), missing });
      },
    );
    return () => {
      gone = true;
    };
  }, [id, news]);
  return shown;
}
