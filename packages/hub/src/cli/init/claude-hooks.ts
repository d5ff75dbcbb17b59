import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { ParleyError } from '@parley/protocol';

import { quote } from '../own-command.ts';
import { replaceFile } from './replace-file.ts';

interface Hook {
  type?: string;
  command?: string;
  [field: string]: unknown;
}
interface Matcher {
  hooks?: Hook[];
  [field: string]: unknown;
}
type Settings = { hooks?: Record<string, Matcher[]>; [field: string]: unknown };

/** When Claude Code begins to rest, and so begins to wait. */
const EVENTS = ['SessionStart', 'Stop'] as const;
/** A day: it goes with its session, and is begun anew at the end of every turn. */
const TIMEOUT_S = 86_400;

/** Where Claude Code keeps the hooks of a scope. */
export function claudeSettingsFile(scope: string): string {
  const { CLAUDE_CONFIG_DIR, HOME } = process.env;
  if (scope === 'user') return join(CLAUDE_CONFIG_DIR ?? join(HOME ?? homedir(), '.claude'), 'settings.json');
  return join('.claude', scope === 'project' ? 'settings.json' : 'settings.local.json');
}

/** The hooks as they are written down: they run beside the session, and wake it when they end with 2. */
export function claudeHooks(server: readonly string[], name: string): Record<string, Matcher[]> {
  // The words of `parley mcp`, as far as both are told who the agent is and where the hub.
  const words = server.flatMap((word, i) => (i === 2 ? ['hook', 'claude', '--name', name] : [word]));
  const hook = {
    type: 'command',
    command: words.map(quote).join(' '),
    asyncRewake: true,
    timeout: TIMEOUT_S,
  };
  return Object.fromEntries(EVENTS.map((event) => [event, [{ hooks: [hook] }]]));
}

/** Sets our hooks or takes them out, and leaves all else as it was; gives the path of the old file's copy, if it changed. */
export function editClaudeHooks(
  scope: string,
  name: string,
  ours: Record<string, Matcher[]> | undefined,
): { file: string; backup: string | undefined } {
  const file = claudeSettingsFile(scope);
  const settings = readSettings(file);
  const hooks: Record<string, Matcher[]> = { ...settings.hooks };
  for (const event of EVENTS) {
    const kept = (hooks[event] ?? []).flatMap((matcher): Matcher[] => {
      const others = (matcher.hooks ?? []).filter((hook) => !isOurs(hook, name));
      return others.length === (matcher.hooks ?? []).length
        ? [matcher]
        : others.length === 0
          ? []
          : [{ ...matcher, hooks: others }];
    });
    const next = [...kept, ...(ours?.[event] ?? [])];
    if (next.length === 0) delete hooks[event];
    else hooks[event] = next;
  }
  const { hooks: _before, ...rest } = settings;
  const next: Settings = Object.keys(hooks).length === 0 ? rest : { ...settings, hooks };
  if (isDeepStrictEqual(next, settings)) return { file, backup: undefined };
  return { file, backup: replaceFile(file, `${JSON.stringify(next, null, 2)}\n`) };
}

/** True where our hooks of this name stand in the settings of a user. */
export function hasClaudeHooks(name: string): boolean {
  try {
    const { hooks = {} } = readSettings(claudeSettingsFile('user'));
    return EVENTS.every((event) =>
      (hooks[event] ?? []).some((one) => one.hooks?.some((hook) => isOurs(hook, name))),
    );
  } catch {
    return false;
  }
}

function isOurs({ command = '' }: Hook, name: string): boolean {
  return ` ${command} `.includes(` hook claude --name ${name} `);
}

function readSettings(file: string): Settings {
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Settings;
  } catch {
    throw new ParleyError(
      'CONFLICT',
      `${file} is not plain JSON: add by hand what parley init claude --print shows, or leave it out with --no-hook`,
    );
  }
}
