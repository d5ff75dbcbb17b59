import path from 'node:path';

import type { ProgramKind } from '@parley/protocol';

/**
 * Agents whose input line is not known, but which are made to be talked to. opencode is none of them: it shows a word in
 * place of a paste, so that nobody can see what it was given; it is run without a terminal.
 */
const AGENTS = ['gemini', 'copilot', 'cursor-agent', 'aider', 'goose', 'qwen', 'kimi', 'droid', 'amp'];

/** The kind of a program by the name of its file; what is not known to take text is closed. */
export function kindOf(file: string): ProgramKind {
  const name = path.basename(file).replace(/\.(js|mjs|cjs|exe)$/, '');
  if (name === 'codex' || name === 'claude' || name === 'bash') return name;
  return AGENTS.includes(name) ? 'prompt' : 'closed';
}
