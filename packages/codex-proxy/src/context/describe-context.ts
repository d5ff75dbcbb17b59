import { seenJson } from '@parley/protocol';

import type { WorkContext } from './read-context.ts';

/** The name of the block in which a session learns who and where it is. */
export const CONTEXT_NAME = 'session-context';

/** Whose turn it is, and where. */
export interface SessionContext extends WorkContext {
  identity: string;
  team: string;
}

/** One line per fact, each a JSON value that cannot end its line or close the block. */
export function contextLines(context: SessionContext): string {
  const { identity, team, repo_root, repo_name, branch, cwd } = context;
  return Object.entries({ identity, team, repo_root, repo_name, branch, cwd })
    .map(([name, value]) => `${name}: ${harmless(value)}`)
    .join('\n');
}

/** The caller's own instructions first, then who the session is and where it was launched. */
export function withContext(instructions: string | undefined, context: SessionContext): string {
  const block = [
    `<${CONTEXT_NAME} as-of="launch">`,
    contextLines(context),
    `</${CONTEXT_NAME}>`,
    `These are the values at launch; a later turn that brings its own ${CONTEXT_NAME} replaces them.`,
  ].join('\n');
  return instructions === undefined || instructions === '' ? block : `${instructions}\n\n${block}`;
}

function harmless(value: string | null): string {
  return seenJson(value).replaceAll(
    /[<>&]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
