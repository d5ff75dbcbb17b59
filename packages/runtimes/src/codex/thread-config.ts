import type { Loose } from '../process/rpc-peer.ts';
import type { ResumeOptions } from './backend.ts';

/** The thread's configuration with its own MCP servers in it, beside the user's; undefined when there is nothing to say. */
export function withMcpServers({ config, mcpServers }: ResumeOptions): Loose | undefined {
  if (mcpServers === undefined) return config;
  const servers = Object.entries(mcpServers).map(([name, { url, headers }]) => [
    `mcp_servers.${name}`,
    // Required: Codex begins a turn without the tools of others that are not there within a second.
    { url, required: true, ...(headers === undefined ? {} : { http_headers: headers }) },
  ]);
  return { ...config, ...Object.fromEntries(servers) };
}
