import { fieldsOf, LOCAL_PASSKEY_PATH, ParleyError, readAll } from '@parley/protocol';
import { plainSend } from '@parley/supervisor/plain-send';
import type { Command } from 'commander';

import { clientSettings } from '../client-settings.ts';
import { addConnectOptions, connect, personName } from '../connect.ts';
import { findHub } from '../find-hub.ts';
import { fittedTable } from '../fitted.ts';
import { oneLine } from '../harmless.ts';
import { print, tell, UnreachableError } from '../output.ts';
import { span } from '../span.ts';

const ASK_MS = 5_000;

/** `parley passkey`: who may sign approvals of high risk, and the way back for one who lost the key. */
export function addPasskeyCommands(program: Command): void {
  const passkey = program.command('passkey').description('let people add passkeys; list and remove them');
  addConnectOptions(passkey.command('ls').description('list the passkeys that approve high risk'))
    .addHelpText('after', '\nExample:\n  parley passkey ls')
    .action(async (_options: unknown, command: Command) => {
      const { client, json, typed } = await connect(command);
      const { demanded } = await client.list_passkeys({ limit: 1 });
      const passkeys = await readAll(
        (place) => client.list_passkeys(place),
        (page) => page.passkeys,
      );
      print({ json }, { passkeys, demanded }, () =>
        fittedTable(
          passkeys.map(({ passkey_id, name, person, site, uses, last_used_at }) => [
            passkey_id,
            oneLine(name),
            person,
            site,
            last_used_at === undefined
              ? 'not used yet'
              : `used ${uses}, last ${span(Date.now() - Date.parse(last_used_at))} ago`,
          ]),
          [{}, { most: 24 }, { most: 16, spare: true }, { most: 24 }],
        ),
      );
      if (json) return;
      if (passkeys.length === 0) tell(`There is none. Add one with: ${typed('passkey code')}`);
      if (demanded === 'off') tell('No approval needs one; asks.passkey = "high_risk" asks for it.');
    });
  addConnectOptions(passkey.command('rm <passkey>'))
    .alias('remove')
    .description('from now on it signs nothing; what it has signed stays good')
    .addHelpText('after', '\nExample:\n  parley passkey rm passkey-1f0c22ab9d0142e7')
    .action(async (passkey_id: string, _options: unknown, command: Command) => {
      const { client, json, typed } = await connect(command);
      const result = await client.remove_passkey({ passkey_id });
      print({ json }, result, () => [`removed ${passkey_id}; add another with: ${typed('passkey code')}`]);
    });
  passkey
    .command('code')
    .description(
      'a code with which a person adds a passkey in the dashboard; for the owner of the data folder',
    )
    .option('--person <name>', 'for whom; else for you')
    .option('--workspace <id>', 'workspace to act in')
    .addHelpText('after', '\nGood once, and for 10 minutes.\n\nExample:\n  parley passkey code')
    .action(async (options: { person?: string; workspace?: string }, command: Command) => {
      const { config, json } = await clientSettings(command, { workspace: options.workspace });
      const person = options.person ?? process.env['PARLEY_AGENT'] ?? personName();
      const given = await askForCode(config, person);
      print({ json }, { ...given, person }, () => [
        given.code,
        `for ${person}: in the dashboard, System, Passkeys; good once, for 10 minutes`,
      ]);
    });
}

/** Only whoever reads the data folder has the key by which the hub gives codes. */
async function askForCode(
  { data, workspace }: { data: string; workspace: string },
  person: string,
): Promise<{ code: string; expires_at: string }> {
  const hub = findHub(data);
  if (hub?.key === undefined)
    throw new UnreachableError(
      `no hub runs on ${data}: codes are made where it runs, by parley passkey code`,
    );
  const response = await plainSend(`${hub.url}${LOCAL_PASSKEY_PATH}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${hub.key}` },
    body: JSON.stringify({ person, workspace_id: workspace }),
    signal: AbortSignal.timeout(ASK_MS),
  });
  const { code, expires_at, error } = fieldsOf(await response.json());
  const { message = `status ${response.status}` } = fieldsOf(error);
  if (!response.ok) throw new ParleyError('VALIDATION_ERROR', `the hub gave no code: ${String(message)}`);
  return { code: String(code), expires_at: String(expires_at) };
}
