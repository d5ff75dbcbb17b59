import { scriptedModelConfig } from '@parley/runtimes';
import type { McpServer } from './agent-run.ts';

/** The variable in which Codex finds the bearer token of an HTTP server. */
export const tokenVariable = 'MCP_TOKEN';

/** Writes the config.toml of one isolated Codex: the scripted model, one MCP server, nothing on the network. */
export function codexConfig(options: {
  modelUrl: string;
  name: string;
  server: McpServer;
  features: Record<string, boolean>;
  marker: string;
}): string {
  const { modelUrl, name, server, marker, features } = options;
  return [
    scriptedModelConfig(modelUrl, features),
    `[mcp_servers.${name}]`,
    // Otherwise a server that is slow to start has no tools in the first turn.
    'required = true',
    'startup_timeout_sec = 30',
    'tool_timeout_sec = 30',
    ...(server.kind === 'stdio' ? stdioEntry(server, name, marker) : httpEntry(server)),
    '',
  ].join('\n');
}

function stdioEntry(server: McpServer & { kind: 'stdio' }, name: string, marker: string): string[] {
  return [
    `command = ${toml(server.command)}`,
    `args = ${toml(server.args)}`,
    `[mcp_servers.${name}.env]`,
    ...pairs({ ...server.env, AGENT_RUN: marker }),
  ];
}

function httpEntry(server: McpServer & { kind: 'http' }): string[] {
  const bearer = `bearer_token_env_var = ${toml(tokenVariable)}`;
  return [`url = ${toml(server.url)}`, ...(server.token === undefined ? [] : [bearer])];
}

function pairs(table: Record<string, string | boolean>): string[] {
  return Object.entries(table).map(([key, value]) => `${key} = ${toml(value)}`);
}

// Strings, lists of strings and booleans are written alike in JSON and TOML.
function toml(value: string | string[] | boolean): string {
  return JSON.stringify(value);
}
