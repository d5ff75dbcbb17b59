/** What is known of the program in a terminal; it decides how text reaches it, if at all. */
export const PROGRAM_KINDS = ['codex', 'claude', 'prompt', 'bash', 'closed'] as const;

/**
 * codex and claude: their input line is known on the screen. prompt: an agent that takes a pasted text at a prompt.
 * bash: text is quoted, so that nothing runs. closed: a program that must not be typed into.
 */
export type ProgramKind = (typeof PROGRAM_KINDS)[number];
