import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { Readable } from 'node:stream';

import type { Client } from '@parley/client';

import { hashOf, sizeOf, typeOf } from '../know/artifact/plain-file.ts';

/** Keeps files as artifacts and gives the lines that show them in a message. */
export async function attachFiles(client: Client, files: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  // What cannot be sent is said before anything is.
  for (const file of files) {
    sizeOf(file);
    typeOf(basename(file));
  }
  for (const file of files) {
    const name = basename(file);
    // Without an encoding its pieces are bytes.
    const body = Readable.toWeb(createReadStream(file)) as ReadableStream<Uint8Array>;
    const options = { name, mime_type: typeOf(name), sha256: await hashOf(file) };
    const { artifact } = await client.uploadArtifact(body, options);
    const mark = artifact.mime_type.startsWith('image/') ? '!' : '';
    lines.push(`${mark}[${name.replaceAll(/[[\]\\]/g, ' ')}](artifact:${artifact.artifact_id})`);
  }
  return lines;
}
