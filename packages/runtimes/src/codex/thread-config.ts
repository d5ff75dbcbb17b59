import { isObject, type Loose } from '../process/rpc-peer.ts';
import type { ResumeOptions } from './backend.ts';

/** The thread's configuration with its own MCP servers in it; undefined when there is nothing to say. */
export function withMcpServers({ config, mcpServers }: ResumeOptions): Loose | undefined {
  if (mcpServers === undefined) return config;
  const servers = Object.entries(mcpServers).map(([name, { url, headers }]) => [
    name,
    { url, ...(headers === undefined ? {} : { http_headers: headers }) },
  ]);
  const given = config?.['mcp_servers'];
  return {
    ...config,
    mcp_servers: { ...(isObject(given) ? given : {}), ...Object.fromEntries(servers) },
  };
}
