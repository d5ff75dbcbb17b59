import { resolve } from 'node:path';

import type { LoadedConfig } from '../../../config/load.ts';

/** What an agent's own terminal says of it, and what may be handed on to its MCP server; no token is among it. */
export const PASSED_ON = ['PARLEY_AGENT', 'PARLEY_ROLE', 'PARLEY_URL', 'PARLEY_TOKEN_FILE'] as const;

/** The words that start `parley mcp` as this very program with the same configuration, whatever the PATH is then. */
export function ownServer(
  { config, origins, file }: LoadedConfig,
  { agent, client }: { agent: string | undefined; client: string },
): string[] {
  const own = (path: string): boolean => origins.get(path) === 'flag' || origins.get(path) === 'env';
  return [
    process.execPath,
    resolve(process.argv[1] ?? 'parley'),
    'mcp',
    ...(agent === undefined ? ['--usual-agent', client] : ['--agent', agent]),
    ...(own('workspace') ? ['--workspace', config.workspace] : []),
    ...(own('data') ? ['--data', resolve(config.data)] : []),
    ...(file === undefined ? [] : ['--config', resolve(file)]),
  ];
}
