import { homedir } from 'node:os';
import { join } from 'node:path';

/** Names that begin with PARLEY_ but speak to the command line, not to the configuration. */
export const CLIENT_VARIABLES = new Set([
  'PARLEY_TOKEN',
  'PARLEY_TOKEN_FILE',
  'PARLEY_URL',
  'PARLEY_AGENT',
  'PARLEY_SESSION',
  'PARLEY_ROLE',
  'PARLEY_SUPERVISED',
  'PARLEY_CONFIG',
]);

/** Where the configuration file is looked for when none is named. */
export function usualConfigFile(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'parley', 'config.toml');
}

/** Where all state is kept when nobody says otherwise. */
export function defaultFolder(env: NodeJS.ProcessEnv): string {
  return env['ATM_HOME'] || join(env['XDG_DATA_HOME'] ?? join(homedir(), '.local', 'share'), 'parley');
}
