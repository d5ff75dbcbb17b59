import { readFileSync } from 'node:fs';

import { ENVELOPE_ROLES } from '@parley/protocol';
import { type Command, Option } from 'commander';

import {
  addOwnKey,
  addPublicKey,
  changeKeyFile,
  type KeyRecord,
  MAX_KEY_AGE_MS,
  type NewKey,
  readKeyFile,
  retireKey,
} from '../../auth/key-file.ts';
import { houseOf } from '../../auth/outsider.ts';
import { prepareFolder } from '../../data-folder.ts';
import { withStateFiles } from '../../state-files/with-state-files.ts';
import { print } from '../output.ts';
import { settingsOf } from '../settings.ts';

interface AddOptions extends NewKey {
  public?: string;
}

/** `parley key`: the keys whose tokens the hub accepts; a running hub heeds a change at once. */
export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('add, list and retire keys');
  key
    .command('add')
    .description("make a new signing key, or register someone else's Ed25519 public key")
    .option('--public <file>', 'PEM or JWK file with a public key; - reads standard input')
    .option('--kid <id>', 'name of the key')
    .option('--workspace <id>', 'accept its tokens for this workspace only')
    .option('--external', 'of a house outside: for envelopes whose JWS has a nonce, and nothing else')
    .addOption(new Option('--role <role>', 'the most that an outsider may be').choices(ENVELOPE_ROLES))
    .option('--subject <name>', 'the one whom an outsider may speak for; else its names end with @<kid>')
    .option('--replaces <kid>', 'the key that had this subject: both speak for it until you retire that one')
    .option('--issuer <name>', 'what iss of an outsider must be')
    .option(
      '--require-audience',
      'refuse a JWS of an outsider that has no aud; another aud is always refused',
    )
    .addHelpText(
      'after',
      `
Examples:
  parley key add --public platform.pem --kid platform-2026
  parley key add --public partner.pem --kid partner-1 --workspace acme --external --role editor \\
    --subject svc:partner`,
    )
    .action(async (options: AddOptions, command: Command) => {
      const { config, json } = settingsOf(command);
      prepareFolder(config.data);
      const { public: file, ...named } = options;
      const text = file === undefined ? undefined : readFileSync(file === '-' ? 0 : file, 'utf8');
      const record = await withStateFiles(config, (stateFiles) =>
        changeKeyFile(stateFiles, (keys) =>
          text === undefined ? addOwnKey(keys, Date.now()) : addPublicKey(keys, Date.now(), text, named),
        ),
      );
      print({ json }, toRow(record), () => [`added ${record.kid}`, ...namesOf(record)]);
    });
  key
    .command('list')
    .description('show all keys, their state and their age')
    .addHelpText('after', '\nExample:\n  parley key list --json')
    .action(async (_options: unknown, command: Command) => {
      const { config, json } = settingsOf(command);
      const rows = await withStateFiles(config, (stateFiles) => readKeyFile(stateFiles).keys.map(toRow));
      print({ json }, { keys: rows }, () =>
        rows.map((row) => `${row.kid}  ${row.kind}  ${row.state}  since ${row.created_at}`),
      );
    });
  key
    .command('retire <kid>')
    .description('refuse the tokens of a key from the next request on')
    .addHelpText('after', '\nExample:\n  parley key retire platform-2026')
    .action(async (kid: string, _options: unknown, command: Command) => {
      const { config, json } = settingsOf(command);
      prepareFolder(config.data);
      const record = await withStateFiles(config, (stateFiles) =>
        changeKeyFile(stateFiles, (keys) => retireKey(keys, kid, Date.now())),
      );
      print({ json }, toRow(record), () => [`retired ${kid}`]);
    });
}

/** Under which names a house outside will be known. */
function namesOf({ external, subject, kid }: KeyRecord): string[] {
  if (external !== true) return [];
  if (subject !== undefined) return [`it speaks for ${subject} alone`];
  return [
    `whoever it speaks for is known here as <sub>@${houseOf(kid)}; --subject gives one a name of its own`,
  ];
}

function toRow(key: KeyRecord) {
  const expires = Date.parse(key.created_at) + MAX_KEY_AGE_MS;
  const state = key.retired_at !== undefined ? 'retired' : expires < Date.now() ? 'too old' : 'in use';
  return {
    kid: key.kid,
    kind: key.private === undefined ? 'registered' : 'own',
    state,
    created_at: key.created_at,
    expires_at: new Date(expires).toISOString(),
    ...(key.retired_at === undefined ? {} : { retired_at: key.retired_at }),
    ...(key.workspace === undefined ? {} : { workspace: key.workspace }),
    ...(key.external === undefined ? {} : { external: true, role: key.role }),
    ...(key.subject === undefined ? {} : { subject: key.subject }),
    ...(key.issuer === undefined ? {} : { issuer: key.issuer }),
    ...(key.audience === undefined ? {} : { require_audience: true }),
  };
}
