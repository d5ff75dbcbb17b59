import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { Readable } from 'node:stream';

import { ParleyError } from '@parley/protocol';
import type { Command } from 'commander';

import { addConnectOptions, connect } from '../../connect.ts';
import { oneLine } from '../../harmless.ts';
import { print } from '../../output.ts';
import { hashOf, sizeOf, typeOf } from './plain-file.ts';
import { createProgress } from './progress.ts';

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
      const mime_type = options.type ?? typeOf(name);
      const total = file === '-' ? undefined : sizeOf(file);
      const sha256 = options.sha256 ?? (file === '-' ? undefined : await hashOf(file));
      const { client, json } = await connect(command);
      const progress = createProgress('sent', total);
      const source = file === '-' ? process.stdin : createReadStream(file);
      // Its pieces are those of the file.
      const body = Readable.toWeb(Readable.from(progress.count(source))) as ReadableStream<Uint8Array>;
      const answer = await client
        .uploadArtifact(body, { name, mime_type, ...(sha256 === undefined ? {} : { sha256 }) })
        .finally(() => progress.end());
      const { artifact_id, bytes } = answer.artifact;
      print({ json }, answer, () => [`${artifact_id}  ${bytes} bytes  ${oneLine(answer.artifact.name)}`]);
    });
}
