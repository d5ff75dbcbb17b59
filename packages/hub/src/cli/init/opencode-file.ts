import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { ParleyError } from '@parley/protocol';

import { replaceFile } from './replace-file.ts';

/** opencode has no command for it: its configuration is a file, which is kept beside when it is changed. */
export function opencodeFile(): string {
  const { XDG_CONFIG_HOME, HOME } = process.env;
  return join(XDG_CONFIG_HOME ?? join(HOME ?? homedir(), '.config'), 'opencode', 'opencode.json');
}

/** How opencode writes a server down. */
export function opencodeEntry(server: readonly string[]): object {
  return { type: 'local', command: server, enabled: true };
}

/** Sets or removes one server, and leaves all else as it was; gives the path of the old file's copy. */
export function editOpencode(name: string, entry: object | undefined): string | undefined {
  const file = opencodeFile();
  const settings = readSettings(file);
  const servers = { ...settings.mcp };
  if (entry === undefined && servers[name] === undefined)
    throw new ParleyError('NOT_FOUND', `'${name}' is not registered in ${file}`);
  if (entry === undefined) delete servers[name];
  else servers[name] = entry;
  return replaceFile(file, `${JSON.stringify({ ...settings, mcp: servers }, null, 2)}\n`);
}

/** The words by which opencode starts a server; undefined where it is not registered. */
export function registeredInOpencode(name: string): string[] | undefined {
  try {
    const { command } = (readSettings(opencodeFile()).mcp?.[name] ?? {}) as { command?: unknown };
    return Array.isArray(command) ? command.map(String) : undefined;
  } catch {
    return undefined;
  }
}

function readSettings(file: string): { mcp?: Record<string, unknown> } {
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { mcp?: Record<string, unknown> };
  } catch {
    throw new ParleyError(
      'CONFLICT',
      `${file} is not plain JSON (comments?): add by hand what parley init opencode --print shows`,
    );
  }
}
