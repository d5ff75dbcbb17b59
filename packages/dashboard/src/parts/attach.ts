import type { OutputOf } from '@parley/protocol';

import { ApiError, newKey, send, wordsOf } from '../data/api.ts';
import { say } from './toast.tsx';

/** Keeps files as artifacts and shows each in a field's text, where the caret stands by then. */
export function addFiles(
  files: readonly File[],
  field: HTMLTextAreaElement | null,
  put: (text: string, caret: number) => void,
  count: (change: (loading: number) => number) => void,
): void {
  for (const file of files) {
    count((loading) => loading + 1);
    attach(file)
      .then(
        (words) => {
          const now = field?.value ?? '';
          const at = field?.selectionEnd ?? now.length;
          const gap = at === 0 || /\s$/.test(now.slice(0, at)) ? '' : '\n';
          const before = `${now.slice(0, at)}${gap}${words}\n`;
          put(before + now.slice(at), before.length);
        },
        (error: unknown) => say(`${file.name} was not added: ${reasonOf(error)}`, 'bad'),
      )
      .finally(() => count((loading) => loading - 1))
      .catch(() => {});
  }
}

/** Why the hub did not take a file, in words of who added it. */
function reasonOf(error: unknown): string {
  const taken = error instanceof ApiError ? error.details['supported'] : undefined;
  // What the hub says of its own field is nobody's word for a file.
  if (!Array.isArray(taken)) return wordsOf(error).replace(/^(?:mime_type|name): /, '');
  return `it is none of ${taken.map((type) => String(type).replace(/^.*\//, '')).join(', ')}`;
}

/** Keeps a file as an artifact and gives the words that show it in a message. */
async function attach(file: File): Promise<string> {
  const name = file.name === '' ? 'picture.png' : file.name;
  const { artifact } = (await send(`/v1/artifacts?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    body: file,
    headers: { 'content-type': file.type === '' ? typeOf(name) : file.type, 'idempotency-key': newKey() },
    // The hub answers an upload as it answers the operation.
  })) as OutputOf<'put_artifact'>;
  const label = artifact.name.replaceAll(/[[\]\\]/g, ' ');
  return `${artifact.mime_type.startsWith('image/') ? '!' : ''}[${label}](artifact:${artifact.artifact_id})`;
}

/** Browsers do not know all that the hub takes. */
function typeOf(name: string): string {
  const end = name.split('.').at(-1)?.toLowerCase() ?? '';
  return (
    { md: 'text/markdown', csv: 'text/csv', json: 'application/json', gz: 'application/gzip' }[end] ??
    'text/plain'
  );
}
