import type { RecordPorts } from '../ports.ts';
import type { DocumentRecord } from './document-records.ts';
import { namesOf } from './links.ts';
import { someDocuments } from './view.ts';

/** How many of one name are looked at in one go. */
const AT_ONCE = 500;

/** The documents right under a parent that bear a title, in their order: found by their name, whatever else hangs there. */
export async function childrenNamed(
  deps: RecordPorts,
  workspace_id: string,
  parent_id: string,
  title: string,
): Promise<DocumentRecord[]> {
  const [name = ''] = namesOf({ title });
  const found: DocumentRecord[] = [];
  const prefix = `${name}\n`;
  for (let past: string | undefined, more = true; more;) {
    const query = { kind: 'name', workspace_id, prefix, limit: AT_ONCE } as const;
    const holders = await deps.store.records(past === undefined ? query : { ...query, past });
    const ids = holders.filter(({ current }) => current).map(({ document_id }) => document_id);
    const documents = await someDocuments(deps, workspace_id, ids);
    found.push(...documents.filter((one) => one.parent_id === parent_id && one.metadata.title === title));
    past = `${prefix}${holders.at(-1)?.document_id ?? ''}`;
    more = holders.length === AT_ONCE;
  }
  const placeOf = ({ order, document_id }: DocumentRecord): string => `${order} ${document_id}`;
  return found.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
}
