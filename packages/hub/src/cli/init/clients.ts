import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { passOnVariables } from './codex-variables.ts';
import type { ConfigFile } from './config-file.ts';
import { wordsOf } from './file-clients.ts';
import { runClient } from './run-client.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A program whose own command keeps its MCP servers. */
export interface McpClient {
  title: string;
  bin: string;
  scopes: readonly string[];
  add(name: string, server: readonly string[], scope: string): string[];
  remove(name: string, scope: string): string[];
  /** The words by which the server is started, where it is registered; nothing is started to learn that. */
  registered(name: string, bin: string): Promise<string[] | undefined>;
  /** The file that its command changes, where it holds nothing but what the person wrote and can be put back to the byte. */
  file?(): string;
  /** Does what its command cannot do; what the person should know. */
  afterwards?(name: string, bin: string, file: ConfigFile | undefined): Promise<string | undefined>;
  /** Whether its hooks can wake it, and are registered too. */
  hooks?: boolean;
}

/** Codex keeps no scopes: its servers are for all of its sessions. */
export const CLIENTS = {
  claude: {
    title: 'Claude Code',
    bin: 'claude',
    scopes: ['user', 'local', 'project'],
    hooks: true,
    add: (name, server, scope) => ['mcp', 'add', '--scope', scope, name, '--', ...server],
    remove: (name, scope) => ['mcp', 'remove', '--scope', scope, name],
    async registered(name) {
      const { env } = process;
      const own = readObject(join(env['CLAUDE_CONFIG_DIR'] ?? homeOf(env), '.claude.json'));
      const here = at(at(own, 'projects'), process.cwd());
      const places = [here, readObject('.mcp.json'), own];
      return places
        .map((place) => wordsOf(at(at(place, 'mcpServers'), name)))
        .find((one) => one !== undefined);
    },
  },
  codex: {
    title: 'Codex',
    bin: 'codex',
    scopes: ['user'],
    add: (name, server) => ['mcp', 'add', name, '--', ...server],
    remove: (name) => ['mcp', 'remove', name],
    file: () => join(process.env['CODEX_HOME'] ?? join(homeOf(process.env), '.codex'), 'config.toml'),
    async registered(name, bin) {
      const said = await runClient(bin, ['mcp', 'get', name, '--json']).catch(() => '{}');
      return wordsOf(at(parseObject(said), 'transport'));
    },
    afterwards: (name, bin, file) => passOnVariables(name, bin, file),
  },
} as const satisfies Record<string, McpClient>;

/** How an agent that speaks the Agent Client Protocol is put within the hub's reach. */
export function managedHint(program: string): string {
  return `For the hub to wake it, run it without a terminal: parley run --managed -- ${program}`;
}

function homeOf(env: Env): string {
  return env['HOME'] ?? homedir();
}

function at(value: unknown, key: string): unknown {
  return (value as Record<string, unknown> | null | undefined)?.[key];
}

function readObject(file: string): unknown {
  try {
    return parseObject(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
