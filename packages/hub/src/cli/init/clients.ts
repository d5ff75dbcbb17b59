import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { passOnVariables } from './codex-variables.ts';
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
  /** Does what its command cannot do; what the person should know. */
  afterwards?(name: string, bin: string): Promise<string | undefined>;
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
      return firstOf(places.map((place) => wordsOf(at(at(place, 'mcpServers'), name))));
    },
  },
  codex: {
    title: 'Codex',
    bin: 'codex',
    scopes: ['user'],
    add: (name, server) => ['mcp', 'add', name, '--', ...server],
    remove: (name) => ['mcp', 'remove', name],
    async registered(name, bin) {
      const said = await runClient(bin, ['mcp', 'get', name, '--json']).catch(() => '{}');
      return wordsOf(at(parseObject(said), 'transport'));
    },
    afterwards: (name, bin) => passOnVariables(name, bin),
  },
  gemini: {
    title: 'Gemini CLI',
    bin: 'gemini',
    scopes: ['user', 'project'],
    // Its own command line would take flags that stand before the two dashes for its own.
    add(name, server, scope) {
      const flags = server.findIndex((word) => word.startsWith('--'));
      return ['mcp', 'add', '--scope', scope, name, ...server.toSpliced(flags, 0, '--')];
    },
    remove: (name, scope) => ['mcp', 'remove', '--scope', scope, name],
    async registered(name) {
      const places = [process.cwd(), homeOf(process.env)].map((folder) =>
        readObject(join(folder, '.gemini', 'settings.json')),
      );
      return firstOf(places.map((place) => wordsOf(at(at(place, 'mcpServers'), name))));
    },
    afterwards: async () => managedHint('gemini'),
  },
} as const satisfies Record<string, McpClient>;

/** How an agent that speaks the Agent Client Protocol is put within the hub's reach. */
export function managedHint(program: string): string {
  return `For the hub to wake it, run it without a terminal: parley run --managed -- ${program}`;
}

function homeOf(env: Env): string {
  return env['HOME'] ?? homedir();
}

function wordsOf(entry: unknown): string[] | undefined {
  const { command, args = [] } = (entry ?? {}) as { command?: unknown; args?: unknown };
  return typeof command === 'string' && Array.isArray(args) ? [command, ...args.map(String)] : undefined;
}

function firstOf<T>(found: (T | undefined)[]): T | undefined {
  return found.find((one) => one !== undefined);
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
