import type { RiskHint } from '@parley/protocol';

import { createWorkingFolder, type WorkingFolder } from './working-folder.ts';
import { destroys, discardsWork, isForced, isSecret, sendsData, tellsSecrets } from './risk-tables.ts';
import { hasOption, operands, type Program, programOf } from './shell-program.ts';
import { type ShellCommand, shellWords } from './shell-words.ts';

/** Commands inside commands are looked at so deep. */
const DEPTH = 5;

/**
 * What the hub itself sees in a command that makes it high risk, in a fixed order. It looks at the words as a shell
 * would; what it does not know is no risk for that reason alone, but what is hidden from it is one.
 */
export function riskHints(command: string, cwd?: string, listed: readonly string[] = []): RiskHint[] {
  const found = new Set<RiskHint>();
  const list = listed.map((line) => line.split(/\s+/));
  lookAt(command, { found, folder: createWorkingFolder(cwd), depth: 0, list });
  return [...found].toSorted();
}

interface Look {
  found: Set<RiskHint>;
  folder: WorkingFolder;
  depth: number;
  /** What somebody calls high risk beside: a program, and words that follow it in this order. */
  list: readonly string[][];
}

const SHELLS = new Set([
  'sh',
  'bash',
  'zsh',
  'dash',
  'ksh',
  'ash',
  'fish',
  'csh',
  'tcsh',
  'pwsh',
  'powershell',
]);
const INTERPRETERS = /^(?:python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|osascript|lua)$/;
const DOWNLOADERS = new Set([
  'curl',
  'wget',
  'fetch',
  'http',
  'https',
  'aria2c',
  'nc',
  'ncat',
  'netcat',
  'iwr',
]);
const RAISES = new Set(['sudo', 'doas', 'pkexec']);

function lookAt(text: string, look: Look): void {
  if (look.depth > DEPTH) {
    look.found.add('hidden_command');
    return;
  }
  const { commands, hidden } = shellWords(text);
  if (hidden) look.found.add('hidden_command');
  let fromNetwork = false;
  const downloaded = new Set<string>();
  for (const command of commands) {
    const program = programOf(command.words);
    if (!command.piped) fromNetwork = false;
    lookAtRedirects(command, look);
    if (program === undefined) continue;
    if (runsInput(program, command)) {
      look.found.add('hidden_command');
      if (fromNetwork) look.found.add('network_to_shell');
    }
    if (runsFile(program).some((name) => downloaded.has(name))) look.found.add('network_to_shell');
    lookAtProgram(program, command, look);
    if (DOWNLOADERS.has(program.name)) {
      fromNetwork = true;
      for (const arg of [...program.args, ...command.redirects.map(({ target }) => target)])
        if (arg !== '') downloaded.add(lastPart(arg));
    }
  }
}

/** True for a shell or an interpreter that takes its commands from what is written to it. */
function runsInput({ name, args }: Program, { piped, redirects }: ShellCommand): boolean {
  const fed = piped || redirects.some(({ operator }) => operator.startsWith('<'));
  if (!fed) return false;
  if (SHELLS.has(name)) return operands(args).length === 0 || hasOption(args, 's');
  return INTERPRETERS.test(name) && (args.length === 0 || args[0] === '-');
}

/** The names of files that are run. */
function runsFile({ name, args }: Program): string[] {
  if (SHELLS.has(name) || INTERPRETERS.test(name) || ['.', 'source', 'chmod'].includes(name))
    return operands(args).map(lastPart);
  return [name];
}

function lastPart(path: string): string {
  return path.split('/').at(-1) ?? '';
}

const DEVICE = /^\/dev\/(?!null$|zero$|u?random$|std\w+$|tty\w*$|fd\/|shm\/)/;

function lookAtRedirects({ redirects }: ShellCommand, { found, folder }: Look): void {
  for (const { operator, target } of redirects) {
    if (isSecret(target)) found.add('secrets');
    if (!operator.startsWith('>') || /^(?:\d+|-)$/.test(target)) continue;
    if (DEVICE.test(target)) found.add('disk');
    else if (folder.isOutside(target)) found.add('outside_folder');
  }
}

/** Variables that decide what else is run. */
const LOADERS =
  /^(?:PATH|LD_PRELOAD|LD_LIBRARY_PATH|DYLD_\w+|NODE_OPTIONS|BASH_ENV|ENV|IFS|PROMPT_COMMAND|PERL5OPT|RUBYOPT|PYTHONSTARTUP|GIT_SSH(?:_COMMAND)?|GIT_EXTERNAL_DIFF|GIT_CONFIG_(?:COUNT|PARAMETERS|KEY_\d+|VALUE_\d+)|(?:GIT_)?(?:PAGER|EDITOR)|VISUAL)$/;

function lookAtProgram(program: Program, command: ShellCommand, look: Look): void {
  const { found, folder } = look;
  const { name, args, sets, by } = program;
  if (look.list.some(([first, ...words]) => first === name && follow(words, args))) found.add('listed');
  const declared = ['export', 'declare', 'typeset', 'local', 'readonly'].includes(name)
    ? args.map((arg) => arg.split('=')[0] ?? '')
    : [];
  if ([...sets, ...declared].some((variable) => LOADERS.test(variable))) found.add('hidden_command');
  // What separates words could be anything, and make two of one.
  if (command.words.some((word) => /\$\{?IFS\b/.test(word))) found.add('hidden_command');
  if (name.startsWith('$') || ['eval', 'alias', 'trap', 'enable'].includes(name)) found.add('hidden_command');
  if (by.includes('env') && command.words.some((word) => /^-[a-z]*S|^--split-string/.test(word)))
    found.add('hidden_command');
  if (RAISES.has(name) || by.some((one) => RAISES.has(one)) || RAISED.has(name)) found.add('privilege');
  if (args.some((arg, i) => isSecret(arg) && args[i - 1] !== '--env-file')) found.add('secrets');
  if (tellsSecrets(name, args)) found.add('secrets');
  if (sendsData(name, args, command)) found.add('sends_data');
  if (destroys(name, args)) found.add('destroys_data');
  lookAtFiles(program, look);
  if (name === 'git' || name.startsWith('git-'))
    lookAtGit(name === 'git' ? args : [name.slice(4), ...args], look);
  if (name === 'cd' || name === 'pushd') folder.move(args[0] ?? '~');
  lookInside(program, look);
}

/** True where words stand among others in their order, whatever stands between. */
function follow(words: readonly string[], args: readonly string[]): boolean {
  let at = -1;
  return words.every((word) => (at = args.indexOf(word, at + 1)) >= 0);
}

const RAISED = new Set(['su', 'runas', 'visudo', 'usermod', 'useradd', 'passwd', 'chpasswd', 'setcap']);
const DISKS =
  /^(?:mkfs(?:\.\w+)?|mke2fs|fdisk|sfdisk|gdisk|cfdisk|parted|wipefs|blkdiscard|cryptsetup|hdparm|newfs\w*)$/;

/** What deletes on Windows. */
const ELSEWHERE = ['del', 'erase', 'rd', 'rmdir', 'remove-item'];

function lookAtFiles({ name, args, by }: Program, { found, folder }: Look): void {
  const many = by.includes('xargs') || by.includes('parallel');
  const isRemoving = ['rm', 'unlink', 'shred', ...ELSEWHERE].includes(name);
  if (isRemoving && many) found.add('recursive_delete');
  if (name === 'rm' && hasOption(args, 'rR', ['--recursive'])) found.add('recursive_delete');
  if (ELSEWHERE.includes(name) && args.some((arg) => /^(?:\/s|-r(?:ecurse)?)$/i.test(arg)))
    found.add('recursive_delete');
  if (name === 'rimraf' || (name === 'rsync' && args.some((arg) => /^--(?:delete|del)\b/.test(arg))))
    found.add('recursive_delete');
  if (DISKS.test(name) || (name === 'format' && args.some((arg) => /^[a-z]:/i.test(arg)))) found.add('disk');
  if (name === 'diskutil' && /^(?:erase|partition|reformat|zero|secure)/i.test(args[0] ?? ''))
    found.add('disk');
  if (changesRights(name, args)) found.add('permissions');
  for (const target of writtenBy(name, args)) {
    if (DEVICE.test(target)) found.add('disk');
    else if (folder.isOutside(target)) found.add('outside_folder');
  }
}

function changesRights(name: string, args: readonly string[]): boolean {
  if (['chown', 'chgrp', 'setfacl', 'icacls', 'takeown', 'chattr'].includes(name)) return true;
  if (name === 'umask') return /^0*$/.test(args[0] ?? 'none');
  if (name !== 'chmod') return false;
  // All may write, or it runs as somebody else.
  const mode = (operands(args)[0] ?? '').slice(0, 32);
  const wide = /^0?[0-7]{2}[2367]$|^[1-7][0-7]{3}$|[oa][a-z]*[+=][rxX]*w|[+=][rwxX]*s/.test(mode);
  return wide || hasOption(args, 'R', ['--recursive']);
}

const REMOVING = ['rm', 'rmdir', 'unlink', 'shred', 'mv', 'tee', 'truncate', 'chmod'];
const COPYING = ['cp', 'ln', 'install', 'rsync'];

/** The places that a program changes. */
function writtenBy(name: string, args: readonly string[]): string[] {
  if (REMOVING.includes(name)) return operands(args);
  if (COPYING.includes(name))
    return operands(args)
      .slice(-1)
      .filter((target) => !/^[\w.@-]+:/.test(target));
  if (name === 'sed' && hasOption(args, 'i', ['--in-place'])) return operands(args).slice(-1);
  return name === 'dd' ? args.flatMap((arg) => (arg.startsWith('of=') ? [arg.slice(3)] : [])) : [];
}

/** Settings of git that name a program. */
const GIT_RUNS =
  /^(?:alias\.|.*(?:command|pager|editor|external|fsmonitor|hookspath|textconv|helper|program)(?:=|$))/i;

/** Options of git itself whose value may be a word of its own. */
const GIT_VALUED = new Set([
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--attr-source',
  '--super-prefix',
  '--config-env',
]);
/** Options of its commands that name a program to be run at one end or the other. */
const GIT_PROGRAMS = ['--receive-pack', '--upload-pack', '--exec'];

/** Commands that git is given to run. */
function runByGit(sub: string, args: readonly string[]): string[] {
  const [verb = '', ...words] = args;
  if ((sub === 'bisect' && verb === 'run') || (sub === 'submodule' && verb === 'foreach'))
    return [words.join(' ')];
  if (sub !== 'rebase') return [];
  return args.flatMap((arg, i) => {
    if (arg.startsWith('--exec=')) return [arg.slice(7)];
    return arg === '-x' || arg === '--exec' ? [args[i + 1] ?? ''] : [];
  });
}

function lookAtGit(args: readonly string[], look: Look): void {
  const { found, folder } = look;
  let i = 0;
  for (let arg = args[i]; arg?.startsWith('-') === true; arg = args[i]) {
    const valued = GIT_VALUED.has(arg);
    if (arg === '-c' && GIT_RUNS.test(args[i + 1] ?? '')) found.add('hidden_command');
    if (arg.startsWith('--config-env') || arg.startsWith('--exec-path=')) found.add('hidden_command');
    if (arg === '-C' && folder.isOutside(args[i + 1] ?? '')) found.add('outside_folder');
    i += valued ? 2 : 1;
  }
  const [sub = '', ...rest] = args.slice(i);
  if (isForced(sub, rest)) found.add('force_push');
  if (discardsWork(sub, rest)) found.add('discards_work');
  if (sub === 'rm' && hasOption(rest, 'r')) found.add('recursive_delete');
  for (const text of runByGit(sub, rest)) lookAt(text, { ...look, depth: look.depth + 1 });
  if ((sub !== 'rebase' && hasOption(rest, '', GIT_PROGRAMS)) || rest.some((arg) => arg.startsWith('ext::')))
    found.add('hidden_command');
  if (sub === 'config' && rest.some((arg) => GIT_RUNS.test(arg))) found.add('hidden_command');
}

const CODE =
  /rmtree|rmSync|unlink|rimraf|shutil\.|os\.(?:system|remove|popen)|subprocess|child_process|\b(?:system|exec|eval|popen)\s*\(|do shell script/;

/** Commands that stand in the arguments of others. */
function lookInside({ name, args }: Program, look: Look): void {
  const inside = (text: string): void => lookAt(text, { ...look, depth: look.depth + 1 });
  if (SHELLS.has(name) || name === 'su' || name === 'script') {
    const at = args.findIndex((arg) => /^-[a-z]*c$|^-command$/i.test(arg));
    if (at >= 0) inside(name.startsWith('p') ? args.slice(at + 1).join(' ') : (args[at + 1] ?? ''));
    if (args.some((arg) => /^-e(?:nc|ncodedcommand)?$/i.test(arg)) && name.startsWith('p'))
      look.found.add('hidden_command');
  }
  if (name === 'cmd') inside(args.slice(args.findIndex((arg) => /^\/[ck]$/i.test(arg)) + 1).join(' '));
  if (name === 'eval') inside(args.join(' '));
  if (name === 'ssh') {
    if (args.some((arg) => /proxycommand|localcommand/i.test(arg))) look.found.add('hidden_command');
    inside(operands(args).slice(1).join(' '));
  }
  if (name === 'find' || name === 'fd') lookAtFind(args, look);
  if (
    name === 'tar' &&
    args.some((arg) => /^--(?:checkpoint-action|to-command|use-compress-program)/.test(arg))
  )
    look.found.add('hidden_command');
  if (/^[gm]?awk$/.test(name) && args.some((arg) => /system\s*\(|\|/.test(arg)))
    look.found.add('hidden_command');
  if (
    INTERPRETERS.test(name) &&
    args.some((arg, i) => /^-(?:c|e|r|p|-eval|-print)$/.test(args[i - 1] ?? '') && CODE.test(arg))
  )
    look.found.add('hidden_command');
}

const RUNNING = /^(?:-(?:exec|ok)(?:dir)?|-x|-X|--exec(?:-batch)?)$/;

function lookAtFind(args: readonly string[], look: Look): void {
  if (args.includes('-delete')) look.found.add('recursive_delete');
  if (look.depth > DEPTH) look.found.add('hidden_command');
  for (let i = args.findIndex((arg) => RUNNING.test(arg)); i >= 0 && look.depth <= DEPTH;) {
    const end = args.findIndex((arg, j) => j > i && (arg === ';' || arg === '+'));
    const words = args.slice(i + 1, end < 0 ? args.length : end);
    const program = programOf(words);
    // It is run for whatever is found, however much that is.
    const many = program && { ...program, by: [...program.by, 'xargs'] };
    if (many !== undefined)
      lookAtProgram(many, { words, redirects: [], piped: false }, { ...look, depth: look.depth + 1 });
    i = end < 0 ? -1 : args.findIndex((arg, j) => j > end && RUNNING.test(arg));
  }
}
