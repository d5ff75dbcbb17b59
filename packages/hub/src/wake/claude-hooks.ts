import { quote } from '../shell-word.ts';

/** A hook of Claude Code as it is written down. */
export interface Hook {
  type?: string;
  command?: string;
  [field: string]: unknown;
}

/** Hooks that Claude Code runs together. */
export interface Matcher {
  hooks?: Hook[];
  [field: string]: unknown;
}

/** When Claude Code begins to rest, and so begins to wait. */
export const HOOK_EVENTS = ['SessionStart', 'Stop'] as const;
/** A day: it goes with its session, and is begun anew at the end of every turn. */
const TIMEOUT_S = 86_400;

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
  return Object.fromEntries(HOOK_EVENTS.map((event) => [event, [{ hooks: [hook] }]]));
}
