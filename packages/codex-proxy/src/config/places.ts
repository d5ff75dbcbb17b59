import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** Where this user's files are; ATM_HOME stands for the home folder, so that nothing outside of it is touched. */
export interface Places {
  home: string;
  /** Configuration, sessions and records. */
  atm: string;
  sessions: string;
  /** Archives of team mail. */
  mail: string;
  /** Claude Code's teams. */
  teams: string;
  /** Claude Code's transcripts. */
  projects: string;
  userFile: string;
  /** Where a hub of this user keeps its data, unless it was told otherwise. */
  hub: string;
}

/** Finds the places from the environment; a blank ATM_HOME counts as none. */
export function findPlaces(env: NodeJS.ProcessEnv): Places {
  const atmHome = env['ATM_HOME']?.trim() ?? '';
  const home = resolve(atmHome || homedir());
  const atm = join(home, '.config', 'atm');
  // Claude Code may keep its files elsewhere; where ATM_HOME is set, nothing outside of it is meant.
  const claude = (atmHome === '' && env['CLAUDE_CONFIG_DIR']?.trim()) || join(home, '.claude');
  const shared = env['XDG_DATA_HOME']?.trim() || join(home, '.local', 'share');
  return {
    home,
    atm,
    sessions: join(atm, 'agent-sessions'),
    mail: join(atm, 'mail'),
    teams: join(resolve(claude), 'teams'),
    projects: join(resolve(claude), 'projects'),
    userFile: join(atm, 'config.toml'),
    hub: atmHome === '' ? join(shared, 'parley') : home,
  };
}

/** The nearest `.atm.toml` from the folder up to the top of its repository, and that top. */
export function findRepoFile(cwd: string): { file: string; root: string } | undefined {
  const root = gitTop(cwd);
  let found: string | undefined;
  for (const folder of upwards(cwd, root ?? resolve(cwd))) {
    const file = join(folder, '.atm.toml');
    if (found === undefined && isPlainFile(file)) found = file;
  }
  return found === undefined ? undefined : { file: found, root: realpathSync(root ?? dirname(found)) };
}

function gitTop(cwd: string): string | undefined {
  return upwards(cwd, undefined).find((folder) => existsSync(join(folder, '.git')));
}

/** The folder and those above it, as far as the last, or all of them. */
function upwards(from: string, last: string | undefined): string[] {
  const folders: string[] = [];
  for (let at = resolve(from); ; at = dirname(at)) {
    folders.push(at);
    if (at === last || at === dirname(at)) return folders;
  }
}

function isPlainFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
