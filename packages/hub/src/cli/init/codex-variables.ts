import { readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { PASSED_ON } from './own-server.ts';
import { replaceFile } from './replace-file.ts';
import { runClient } from './run-client.ts';

/**
 * Lets Codex hand our variables on to the server, which it does for named ones only and which its own command cannot
 * say; without them a Codex under `parley run` would speak under two names. What does not take hold is put back, and told.
 */
export async function passOnVariables(name: string, bin: string): Promise<string | undefined> {
  const { env } = process;
  const file = realpathSync(
    join(env['CODEX_HOME'] ?? join(env['HOME'] ?? homedir(), '.codex'), 'config.toml'),
  );
  const before = readFileSync(file, 'utf8');
  const header = `[mcp_servers.${name}]\n`;
  const after = before.replace(header, `${header}env_vars = ${JSON.stringify(PASSED_ON)}\n`);
  replaceFile(file, after);
  const said = await runClient(bin, ['mcp', 'get', name, '--json']).catch(() => '');
  if (said.includes('PARLEY_AGENT')) return undefined;
  replaceFile(file, before);
  return 'This Codex hands no variables on: under parley run register it with the same --agent.';
}
