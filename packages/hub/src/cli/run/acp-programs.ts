/** How programs are told to speak the Agent Client Protocol, by name. */
const SPEAKING: Readonly<Record<string, string>> = {
  opencode: 'acp',
  gemini: '--acp',
  copilot: '--acp',
};

/** The programs that speak it, as far as they are known by name. */
export const ACP_PROGRAMS: readonly string[] = Object.keys(SPEAKING);

/** The arguments with which a program speaks it; undefined for one that is not known to. */
export function acpArguments(program: string, args: readonly string[]): readonly string[] | undefined {
  if (program.endsWith('-acp') || args.includes('--acp') || args[0] === 'acp') return args;
  const word = Object.hasOwn(SPEAKING, program) ? SPEAKING[program] : undefined;
  return word === undefined ? undefined : [word, ...args];
}
