import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { fieldsOf } from '@parley/protocol';
import { type JsonText, readJsonText } from './json-text.ts';

/** A program whose MCP servers stand in a file of its own, which we edit in place. */
export interface FileClient {
  title: string;
  scopes: readonly string[];
  file(scope: string): string;
  /** Where a server stands in the file. */
  place(name: string): string[];
  /** How the program writes a server down. */
  entry(server: readonly string[]): object;
  /** The words by which a server is started, as the file has them. */
  words(entry: unknown): string[] | undefined;
}

/** The programs that have no command of their own for it, or one that would lose a person's comments. */
export const FILE_CLIENTS = {
  gemini: {
    title: 'Gemini CLI',
    scopes: ['user', 'project'],
    file: (scope) => join(scope === 'project' ? process.cwd() : home(), '.gemini', 'settings.json'),
    place: (name) => ['mcpServers', name],
    entry: ([command, ...args]) => ({ command, args }),
    words: wordsOf,
  },
  opencode: {
    title: 'opencode',
    scopes: ['user', 'project'],
    file(scope) {
      const { XDG_CONFIG_HOME } = process.env;
      const folder =
        scope === 'project' ? process.cwd() : join(XDG_CONFIG_HOME ?? join(home(), '.config'), 'opencode');
      const [plain, commented] = [join(folder, 'opencode.json'), join(folder, 'opencode.jsonc')];
      return existsSync(plain) || !existsSync(commented) ? plain : commented;
    },
    place: (name) => ['mcp', name],
    entry: (server) => ({ type: 'local', command: server, enabled: true }),
    words: (entry) => {
      const { command } = fieldsOf(entry);
      return Array.isArray(command) ? command.map(String) : undefined;
    },
  },
} as const satisfies Record<string, FileClient>;

/** The file with our server in it, or without. */
export function withServer(
  client: FileClient,
  text: JsonText,
  name: string,
  server: readonly string[] | undefined,
): JsonText {
  const place = client.place(name);
  return server === undefined ? text.remove(place) : text.set(place, client.entry(server));
}

/** The words by which a program of this kind starts our server; undefined where it is not registered. */
export function registeredInFile(
  client: FileClient,
  name: string,
  read: (file: string) => string,
): string[] | undefined {
  for (const scope of client.scopes.toReversed()) {
    const file = client.file(scope);
    try {
      const found = client.words(readJsonText(read(file), file).get(client.place(name)));
      if (found !== undefined) return found;
    } catch {
      // A file that cannot be read registers nothing.
    }
  }
  return undefined;
}

/** A server's words where it is written as a command with arguments. */
export function wordsOf(entry: unknown): string[] | undefined {
  const { command, args = [] } = fieldsOf(entry);
  return typeof command === 'string' && Array.isArray(args) ? [command, ...args.map(String)] : undefined;
}

function home(): string {
  return process.env['HOME'] ?? homedir();
}
