import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { fieldsOf } from '@parley/protocol';
import { tablesOf, withTables } from './codex-tables.ts';
import { completeCodex } from './complete-codex.ts';
import type { ConfigFile } from './config-file.ts';
import { wordsOf } from './file-clients.ts';
import { readJsonText } from './json-text.ts';
import { runClient } from './run-client.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A program whose own command keeps its MCP servers. */
export interface McpClient {
  title: string;
  bin: string;
  scopes: readonly string[];
  add(name: string, server: readonly string[], scope: string): string[];
  remove(name: string, scope: string): string[];
  /** The words by which the server is started, where it is registered, for this scope or any; nothing is started to learn that. */
  registered(name: string, bin: string, scope?: string): Promise<string[] | undefined>;
  /** The file that its command changes, where that is a person's and not the program's own. */
  file?(scope: string): string | undefined;
  /** The person's file with what the command has written for the server, all else as it was: the command lays it out anew. */
  keepLayout(before: string, written: string, name: string): string;
  /** The person's file without the server. */
  without(text: string, name: string): string;
  /** Does what its command cannot do; what the person should know. */
  afterwards?(name: string, bin: string, file: ConfigFile | undefined): Promise<string | undefined>;
  /** Whether its hooks can wake it, and are registered too. */
  hooks?: boolean;
}

/** The servers of a project in Claude Code, which its people share. */
const PROJECT = '.mcp.json';

/** Codex keeps no scopes: its servers are for all of its sessions. */
export const CLIENTS = {
  claude: {
    title: 'Claude Code',
    bin: 'claude',
    scopes: ['user', 'local', 'project'],
    hooks: true,
    add: (name, server, scope) => ['mcp', 'add', '--scope', scope, name, '--', ...server],
    remove: (name, scope) => ['mcp', 'remove', '--scope', scope, name],
    file: (scope) => (scope === 'project' ? PROJECT : undefined),
    keepLayout: (before, written, name) =>
      readJsonText(before, PROJECT).set(
        ['mcpServers', name],
        readJsonText(written, PROJECT).get(['mcpServers', name]),
      ).text,
    without: (text, name) => readJsonText(text, PROJECT).remove(['mcpServers', name]).text,
    async registered(name: string, _bin: string, scope?: string) {
      const { env } = process;
      const own = readObject(join(env['CLAUDE_CONFIG_DIR'] ?? homeOf(env), '.claude.json'));
      const here = at(at(own, 'projects'), process.cwd());
      const places = { local: here, project: readObject(PROJECT), user: own };
      return Object.entries(places)
        .filter(([one]) => scope === undefined || scope === one)
        .map(([, place]) => wordsOf(at(at(place, 'mcpServers'), name)))
        .find((one) => one !== undefined);
    },
  },
  codex: {
    title: 'Codex',
    bin: 'codex',
    scopes: ['user'],
    add: (name, server) => ['mcp', 'add', name, '--', ...server],
    remove: (name) => ['mcp', 'remove', name],
    keepLayout: (before, written, name) =>
      withTables(tablesOf(before, name).rest, tablesOf(written, name).own),
    without: (text, name) => tablesOf(text, name).rest,
    file: () => join(process.env['CODEX_HOME'] ?? join(homeOf(process.env), '.codex'), 'config.toml'),
    async registered(name, bin) {
      const said = await runClient(bin, ['mcp', 'get', name, '--json']).catch(() => '{}');
      return wordsOf(at(parseObject(said), 'transport'));
    },
    afterwards: (name, bin, file) => completeCodex(name, bin, file),
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
  return fieldsOf(value)[key];
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
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
