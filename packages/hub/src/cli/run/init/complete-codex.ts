import type { ConfigFile } from './config-file.ts';
import { PASSED_ON } from './own-server.ts';
import { runClient } from './run-client.ts';

/**
 * Says in Codex's file what its own command cannot say. `required`: it gives a server that is not required one second
 * to start, and then works without its tools and without a word; ours comes up whether or not the hub runs. `env_vars`:
 * it hands on named variables only; without ours a Codex under `parley run` would speak under two names, and one with a
 * home of its own could not be woken. What does not take hold is put back, and told.
 */
export async function completeCodex(
  name: string,
  bin: string,
  file: ConfigFile | undefined,
): Promise<string | undefined> {
  const before = file?.read() ?? '';
  const header = `[mcp_servers.${name}]\n`;
  const more = `required = true\nenv_vars = ${JSON.stringify([...PASSED_ON, 'CODEX_HOME'])}\n`;
  file?.write(before.replace(header, `${header}${more}`));
  const said = await runClient(bin, ['mcp', 'get', name, '--json']).catch(() => '');
  if (said.includes('PARLEY_AGENT')) return undefined;
  file?.write(before);
  return 'This Codex hands no variables on: under parley run register it with the same --agent.';
}
