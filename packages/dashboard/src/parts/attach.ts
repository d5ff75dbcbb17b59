import type { OutputOf } from '@parley/protocol';

import { newKey, send } from '../data/api.ts';

/** Keeps a file as an artifact and gives the words that show it in a message. */
export async function attach(file: File): Promise<string> {
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
