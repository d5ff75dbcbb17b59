import type { Command } from 'commander';

import { count } from '../../arguments.ts';
import { addConnectOptions, connect } from '../../connect.ts';
import { fittedTable } from '../../fitted.ts';
import { parseDuration } from '../../duration.ts';
import { oneLine } from '../../harmless.ts';
import { localTime } from '../../message-lines.ts';
import { print, tell } from '../../output.ts';
import { painter } from '../../style.ts';
import { addGetCommand } from './get.ts';
import { addPutCommand } from './put.ts';

/** `parley artifact`: files that are kept under their hash. */
export function addArtifactCommands(program: Command): void {
  const artifact = program
    .command('artifact')
    .description('keep files, fetch them, and sign URLs that lead to them');
  addPutCommand(artifact);
  addGetCommand(artifact);
  addConnectOptions(artifact.command('ls'))
    .description('the artifacts of the workspace, the newest first')
    .option('-n, --limit <count>', 'how many', count, 50)
    .addHelpText('after', '\nExample:\n  parley artifact ls')
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const { client, json, typed } = await connect(command);
      const paint = painter(command);
      const page = await client.list_artifacts({ limit: Math.min(Math.max(limit, 1), 200) });
      print({ json }, page, () =>
        fittedTable(
          page.artifacts.map((one) => [
            one.artifact_id,
            String(one.bytes),
            one.mime_type,
            localTime(one.created_at),
            one.created_by,
            paint('bold', oneLine(one.name)),
          ]),
          [{}, {}, { most: 24, spare: true }, { spare: true }, { most: 16, spare: true }],
        ),
      );
      if (!json && page.artifacts.length === 0)
        tell(`Nothing is kept. Keep a file with: ${typed('artifact put report.pdf')}`);
    });
  addConnectOptions(artifact.command('url <artifact>'))
    .description('a URL for GET alone that needs no token, good for 15 minutes at most')
    .option(
      '--ttl <duration>',
      'how long it is good; more than 15m is cut down to that',
      parseDuration,
      900_000,
    )
    .addHelpText(
      'after',
      '\nWho has the URL has the file.\n\nExample:\n  parley artifact url art_01… --ttl 60s',
    )
    .action(async (artifact_id: string, { ttl }: { ttl: number }, command: Command) => {
      const { client, json } = await connect(command);
      const signed = await client.sign_artifact_url({
        artifact_id,
        ttl_sec: Math.max(1, Math.round(ttl / 1_000)),
      });
      print({ json }, signed, () => [signed.artifact_uri]);
    });
}
