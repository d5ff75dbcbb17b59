import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { Readable } from 'node:stream';

import { ParleyError } from '@parley/protocol';
import type { Command } from 'commander';

import { addConnectOptions, connect } from '../connect.ts';
import { oneLine } from '../harmless.ts';
import { print } from '../output.ts';
import { createProgress } from './progress.ts';

const TYPES: Record<string, string> = {
  '.txt': 'text/plain',
  '.log': 'text/plain',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.pdf': 'application/pdf',
  '.zip': 'application/zip',
  '.gz': 'application/gzip',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

interface Options {
  name?: string;
  type?: string;
  sha256?: string;
}

/** `parley artifact put`: keep a file. */
export function addPutCommand(artifact: Command): void {
  addConnectOptions(artifact.command('put <file>'))
    .description('keep a file; - reads standard input')
    .option('--name <name>', 'its name; else that of the file')
    .option('--type <mime>', 'its MIME type; else by the end of its name')
    .option('--sha256 <hex>', 'refuse it if it has another hash')
    .addHelpText('after', '\nExample:\n  parley artifact put report.pdf')
    .action(async (file: string, options: Options, command: Command) => {
      const name = options.name ?? (file === '-' ? undefined : basename(file));
      if (name === undefined) throw new ParleyError('VALIDATION_ERROR', '--name: standard input has none');
      const mime_type = options.type ?? TYPES[extname(name).toLowerCase()];
      if (mime_type === undefined)
        throw new ParleyError(
          'VALIDATION_ERROR',
          `--type: the end of ${name} does not tell; give a MIME type`,
        );
      const total = file === '-' ? undefined : sizeOf(file);
      const sha256 = options.sha256 ?? (file === '-' ? undefined : await hashOf(file));
      const { client, json } = await connect(command);
      const progress = createProgress('sent', total);
      const source = file === '-' ? process.stdin : createReadStream(file);
      const body = Readable.toWeb(Readable.from(progress.count(source))) as ReadableStream<Uint8Array>;
      const answer = await client
        .uploadArtifact(body, { name, mime_type, ...(sha256 === undefined ? {} : { sha256 }) })
        .finally(() => progress.end());
      const { artifact_id, bytes } = answer.artifact;
      print({ json }, answer, () => [`${artifact_id}  ${bytes} bytes  ${oneLine(answer.artifact.name)}`]);
    });
}

function sizeOf(file: string): number {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) throw new ParleyError('NOT_FOUND', `${file} is not there`);
  if (!stat.isFile()) throw new ParleyError('VALIDATION_ERROR', `${file} is no plain file`);
  return stat.size;
}

async function hashOf(file: string): Promise<string> {
  const sum = createHash('sha256');
  for await (const piece of createReadStream(file)) sum.update(piece as Buffer);
  return sum.digest('hex');
}
