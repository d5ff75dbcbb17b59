import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';

import { writeWhole } from '@parley/files';
import { ParleyError } from '@parley/protocol';
import type { Command } from 'commander';

import { addConnectOptions, connect } from '../../connect.ts';
import { pour, print, UnreachableError } from '../../output.ts';
import { createProgress } from './progress.ts';

/** `parley artifact get`: fetch a file. */
export function addGetCommand(artifact: Command): void {
  addConnectOptions(artifact.command('get <artifact>'))
    .description('fetch an artifact and hold it against its hash; without --out to standard output')
    .option('-o, --out <file>', 'write to this new file')
    .addHelpText('after', '\nExample:\n  parley artifact get art_01… --out report.pdf')
    .action(async (artifact_id: string, { out }: { out?: string }, command: Command) => {
      const { client, json } = await connect(command);
      if (out !== undefined && existsSync(out)) throw new ParleyError('CONFLICT', `${out} is there already`);
      const { artifact_uri, artifact_hash, artifact: kept } = await client.sign_artifact_url({ artifact_id });
      const progress = createProgress('fetched', kept.bytes);
      const pieces = progress.count(fetchChecked(artifact_uri, artifact_hash));
      try {
        if (out === undefined) await pour(pieces);
        else await writeWhole(out, pieces);
      } finally {
        progress.end();
      }
      if (out !== undefined)
        print({ json }, { file: out, artifact: kept }, () => [`${out}: ${kept.bytes} bytes`]);
    });
}

/** The bytes behind a URL; all but the last piece go on before the hash is known, and a wrong one is an error. */
async function* fetchChecked(url: string, sha256: string): AsyncGenerator<Uint8Array> {
  const response = await fetch(url, { redirect: 'error' }).catch(() => undefined);
  if (response?.ok !== true || response.body === null)
    throw new UnreachableError(`the artifact cannot be fetched: ${response?.status ?? 'no answer'}`);
  const sum = createHash('sha256');
  // The types of fetch leave out that its body can be read so.
  for await (const piece of response.body as AsyncIterable<Uint8Array>) {
    sum.update(piece);
    yield piece;
  }
  if (sum.digest('hex') !== sha256)
    throw new ParleyError('INTERNAL', 'what arrived is not what was kept; fetch it again');
}
