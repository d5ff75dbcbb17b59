/** Where a command line is, as it walks through folders, and what lies outside the folder it was to run in. */
export interface WorkingFolder {
  /** `cd` */
  move(path: string): void;
  isOutside(path: string): boolean;
}

/** Where anybody may write. */
const OPEN = /^\/(?:dev\/(?:null|zero|tty|std\w+|fd\/\d+)|tmp|var\/tmp|private\/tmp)(?:\/|$)/;

/** Folders that belong to no project, where the folder of the command is not known. */
const SYSTEM = /^\/(?:etc|usr|bin|sbin|lib\w*|boot|var|opt|root|sys|proc|System|Library)(?:\/|$)/;

/** The folder that a command line begins in; undefined where nobody said which. */
export function createWorkingFolder(cwd: string | undefined): WorkingFolder {
  const home = cwd === undefined ? '' : normal(cwd);
  let at = home;

  function resolve(path: string): string {
    const said = path.replace(/^\$\{?HOME\}?(?=\/|$)/, '~');
    return isAbsolute(said) ? normal(said) : normal(at === '' ? said : `${at}/${said}`);
  }

  return {
    move: (path) => void (at = resolve(path)),
    isOutside(path) {
      // What a variable stands for is not known.
      if (path === '' || /^\$(?!\{?HOME\b)/.test(path)) return false;
      const full = resolve(path);
      if (OPEN.test(full)) return false;
      if (home === '')
        return full.startsWith('~') || full.startsWith('..') || full === '/' || SYSTEM.test(full);
      // A folder written with ~ and a path written in full cannot be compared.
      if (home.startsWith('~') !== full.startsWith('~') && !full.startsWith('~'))
        return SYSTEM.test(full) || full === '/';
      return full !== home && !full.startsWith(home === '/' ? '/' : `${home}/`);
    },
  };
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || path.startsWith('~');
}

/** A path without . and .., as far as it can be told; a relative one may begin with ... */
function normal(path: string): string {
  const root = path.startsWith('/') ? '/' : '';
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..' || parts.length === 0 || parts.at(-1) === '..') {
      if (part !== '..' || root === '') parts.push(part);
    } else parts.pop();
  }
  return root + parts.join('/');
}
