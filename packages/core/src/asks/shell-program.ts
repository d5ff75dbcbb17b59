/** The program that a simple command runs in the end, with its own arguments. */
export interface Program {
  name: string;
  args: string[];
  /** Variables that are set for it. */
  sets: string[];
  /** Programs that start it, such as sudo and xargs. */
  by: string[];
}

/** Programs that run another: options that take a value, and how many words stand before the other program. */
const STARTERS: Record<string, { valued?: string; before?: number }> = {
  sudo: { valued: 'ughpCTDRUrt' },
  doas: { valued: 'uC' },
  pkexec: { valued: 'u' },
  env: { valued: 'uC' },
  nice: { valued: 'n' },
  ionice: { valued: 'cnp' },
  timeout: { valued: 'ks', before: 1 },
  stdbuf: { valued: 'ioe' },
  xargs: { valued: 'IEdLnPsa' },
  parallel: { valued: 'jI' },
  time: { valued: 'fo' },
  exec: { valued: 'a' },
  watch: { valued: 'n' },
  flock: { valued: 'wE', before: 1 },
  chroot: { before: 1 },
  strace: { valued: 'eopsu' },
  npx: { valued: 'p' },
  bunx: {},
  nohup: {},
  setsid: {},
  command: {},
  builtin: {},
  busybox: {},
  caffeinate: {},
  'cross-env': {},
  unshare: {},
  'systemd-run': {},
  taskset: { before: 1 },
  torsocks: {},
  proxychains: {},
  proxychains4: {},
  chronic: {},
  entr: {},
  rlwrap: {},
  firejail: {},
  'ssh-agent': {},
  'dbus-run-session': {},
};

/** Programs that run another by one of their own commands. */
const RUNNERS: Record<string, readonly string[]> = {
  npm: ['exec', 'x'],
  pnpm: ['exec'],
  yarn: ['exec'],
  bun: ['x'],
  uv: ['run'],
  poetry: ['run'],
  pipenv: ['run'],
  pipx: ['run'],
  bundle: ['exec'],
  mise: ['exec', 'x'],
  asdf: ['exec'],
};

/** Words that may stand before a command and run nothing themselves. */
const KEYWORDS = new Set(['{', '}', '!', 'if', 'then', 'else', 'elif', 'while', 'until', 'do', 'coproc']);

const ASSIGNMENT = /^([A-Za-z_]\w*)\+?=/;

/** Looks through keywords, assignments and whatever only starts something else. */
export function programOf(words: readonly string[]): Program | undefined {
  const sets: string[] = [];
  const by: string[] = [];
  let rest = [...words];
  for (;;) {
    const [first] = rest;
    if (first === undefined) return sets.length === 0 ? undefined : { name: '', args: [], sets, by };
    const [, variable] = ASSIGNMENT.exec(first) ?? [];
    if (variable !== undefined) sets.push(variable);
    if (variable !== undefined || KEYWORDS.has(first)) {
      rest = rest.slice(1);
      continue;
    }
    if (first === 'function') {
      rest = rest.slice(2);
      continue;
    }
    const name = nameOf(first);
    const started = startedBy(name, rest.slice(1));
    if (started.length === 0) return { name, args: rest.slice(1), sets, by };
    by.push(name);
    rest = started;
  }
}

/** The words of what a program starts; none where it starts nothing else. */
function startedBy(name: string, words: string[]): string[] {
  const starter = Object.hasOwn(STARTERS, name) ? STARTERS[name] : undefined;
  if (starter !== undefined) return afterOptions(words, starter);
  const verbs = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
  return verbs?.includes(words[0] ?? '') === true ? afterOptions(words.slice(1), {}) : [];
}

/** The name of a program without its folder, as it is called on any system. */
function nameOf(word: string): string {
  const last = word.split(/[/\\]/).at(-1) ?? '';
  return last.toLowerCase().replace(/\.exe$/, '');
}

function afterOptions(
  words: string[],
  { valued = '', before = 0 }: { valued?: string; before?: number },
): string[] {
  let i = 0;
  for (let word = words[i]; word?.startsWith('-') === true; word = words[i]) {
    i += word.length === 2 && valued.includes(word.charAt(1)) ? 2 : 1;
    if (word === '--') break;
  }
  return words.slice(i + before);
}

/** True when one of the short options, alone or in a bunch, or one of the long ones, cut short or not, is given before `--`. */
export function hasOption(args: readonly string[], short: string, long: readonly string[] = []): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? args.length : end).some((arg) => {
    if (arg.startsWith('--')) return long.some((name) => isOption(arg, name));
    return (
      arg.startsWith('-') &&
      arg
        .slice(1)
        .split('')
        .some((letter) => short.includes(letter))
    );
  });
}

/** True for a long option as it is written, also cut short as programs take it (`--recurs`), and with its value. */
export function isOption(arg: string, name: string): boolean {
  const [word = ''] = arg.split('=');
  return word.length > 2 && name.startsWith(word);
}

/** The arguments that are no options. */
export function operands(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  const [options, after] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];
  return [...options.filter((arg) => !arg.startsWith('-')), ...after];
}
