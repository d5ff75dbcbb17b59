import { homedir } from 'node:os';
import { join } from 'node:path';

import { type Hook, HOOK_EVENTS, type Matcher } from '../../../wake/claude-hooks.ts';
import type { JsonText } from './json-text.ts';

/** Where Claude Code keeps the hooks of a scope. */
export function claudeSettingsFile(scope: string): string {
  const { CLAUDE_CONFIG_DIR, HOME } = process.env;
  if (scope === 'user') return join(CLAUDE_CONFIG_DIR ?? join(HOME ?? homedir(), '.claude'), 'settings.json');
  return join('.claude', scope === 'project' ? 'settings.json' : 'settings.local.json');
}

/** The settings with our hooks in place of those that stood there, or without any of ours; all else as it was. */
export function withClaudeHooks(
  settings: JsonText,
  name: string,
  ours: Record<string, Matcher[]> | undefined,
): JsonText {
  let next = settings;
  for (const event of HOOK_EVENTS) {
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
  return HOOK_EVENTS.every((event) => ownHooks(settings, event, name).length > 0);
}

/** Where our hooks stand. */
function ownHooks(settings: JsonText, event: string, name: string): (string | number)[][] {
  const matchers = settings.get(['hooks', event]);
  if (!Array.isArray(matchers)) return [];
  // Claude Code keeps no others there; what is wanted of each is looked for below.
  return (matchers as Matcher[]).flatMap(({ hooks = [] }, i) =>
    hooks.flatMap((hook, k) => (isOurs(hook, name) ? [['hooks', event, i, 'hooks', k]] : [])),
  );
}

function isOurs({ command = '' }: Hook, name: string): boolean {
  return ` ${command} `.includes(` hook claude --name ${name} `);
}
