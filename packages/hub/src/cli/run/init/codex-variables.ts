import type { ConfigFile } from './config-file.ts';
import { PASSED_ON } from './own-server.ts';
import { runClient } from './run-client.ts';

/**
 * Lets Codex hand our variables on to the server, which it does for named ones only and which its own command cannot
 * say; without them a Codex under `parley run` would speak under two names, and one with a home of its own could not be
 * woken. What does not take hold is put back, and told.
 */
export async function passOnVariables(
  name: string,
  bin: string,
  file: ConfigFile | undefined,
): Promise<string | undefined> {
  const before = file?.read() ?? '';
  const header = `[mcp_servers.${name}]\n`;
  file?.write(
    before.replace(header, `${header}env_vars = ${JSON.stringify([...PASSED_ON, 'CODEX_HOME'])}\n`),
  );
  const said = await runClient(bin, ['mcp', 'get', name, '--json']).catch(() => '');
  if (said.includes('PARLEY_AGENT')) return undefined;
  file?.write(before);
  return 'This Codex hands no variables on: under parley run register it with the same --agent.';
}
