import { homedir } from 'node:os';
import { join } from 'node:path';

import { quote } from '../own-command.ts';
import type { JsonText } from './json-text.ts';

interface Hook {
  type?: string;
  command?: string;
  [field: string]: unknown;
}
interface Matcher {
  hooks?: Hook[];
  [field: string]: unknown;
}

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

/** The settings with our hooks in place of those that stood there, or without any of ours; all else as it was. */
export function withClaudeHooks(
  settings: JsonText,
  name: string,
  ours: Record<string, Matcher[]> | undefined,
): JsonText {
  let next = settings;
  for (const event of EVENTS) {
    for (const path of ownHooks(next, event, name).toReversed()) next = next.remove(path);
    for (const matcher of ours?.[event] ?? []) {
      const there = next.get(['hooks', event]);
      next = Array.isArray(there)
        ? next.set(['hooks', event, there.length], matcher)
        : next.set(['hooks', event], [matcher]);
    }
  }
  return next;
}

/** True where our hooks of this name stand in the settings. */
export function hasClaudeHooks(settings: JsonText, name: string): boolean {
  return EVENTS.every((event) => ownHooks(settings, event, name).length > 0);
}

/** Where our hooks stand. */
function ownHooks(settings: JsonText, event: string, name: string): (string | number)[][] {
  const matchers = settings.get(['hooks', event]);
  if (!Array.isArray(matchers)) return [];
  return (matchers as Matcher[]).flatMap(({ hooks = [] }, i) =>
    hooks.flatMap((hook, k) => (isOurs(hook, name) ? [['hooks', event, i, 'hooks', k]] : [])),
  );
}

function isOurs({ command = '' }: Hook, name: string): boolean {
  return ` ${command} `.includes(` hook claude --name ${name} `);
}
