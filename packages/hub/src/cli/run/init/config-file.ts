import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { makeFolderSync, writeWholeSync } from '@parley/files';
import * as z from 'zod';

import { readPrivateFile, writePrivateFile } from '../../../data-folder.ts';

/** What is known of the files of other programs that we changed, by their paths. */
const Changes = z.record(
  z.string(),
  z.object({
    /** The file was there before us, and stands beside it as it was. */
    existed: z.boolean(),
    /** Nor was its folder. */
    folder: z.literal(false).optional(),
    /** The hash of the file as we left it. */
    left: z.string().optional(),
    /** Somebody has changed it between two changes of ours: the copy would take that back too. */
    shared: z.literal(true).optional(),
  }),
);
type Changes = z.infer<typeof Changes>;

/** A file of another program, changed by us so that it can be put back as it was. */
export interface ConfigFile {
  readonly path: string;
  /** Where the file as it was stands, while it is changed. */
  readonly backup: string;
  /** It was there before us. */
  readonly existed: boolean;
  /** What stands there now; empty where there is no file. */
  read(): string;
  /** Keeps the file as it is, if it is not kept yet, while it is changed by us or by its own program; put back where that fails. */
  change<T>(change: () => T | Promise<T>): Promise<T>;
  /** Replaces the text, whole or not at all. */
  write(text: string): void;
  remove(): void;
  /** Puts the file back to the byte where nobody else has changed it since; false where somebody has. */
  restore(): boolean;
  /** Forgets the copy, after our part was taken out of the file. */
  forget(): void;
}

/** Opens a file of another program; `data` is our own folder, which remembers what was done to it. */
export function openConfigFile(file: string, data: string): ConfigFile {
  // A file that is a link, as people keep them in a repository, stays one.
  const path = realPath(file);
  const backup = `${path}.before-parley`;
  const notes = join(data, 'init.json');
  const read = (): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  const known = (): Changes => {
    const parsed = Changes.safeParse(JSON.parse(readPrivateFile(notes) ?? '{}'));
    return parsed.success ? parsed.data : {};
  };
  const note = (change: Changes[string] | undefined): void => {
    const { [path]: _before, ...others } = known();
    const next = change === undefined ? others : { ...others, [path]: change };
    if (Object.keys(next).length === 0) rmSync(notes, { force: true });
    else writePrivateFile(notes, `${JSON.stringify(next, null, 2)}\n`);
  };
  /** With the mode of the person's own file, whatever ours are. */
  const put = (target: string, bytes: Buffer): void => {
    const mode = existsSync(path) ? statSync(path).mode & 0o777 : 0o600;
    writeWholeSync(target, [bytes], mode);
    chmodSync(target, mode);
  };

  const remove = (): void => {
    rmSync(path, { force: true });
    const isOurs = known()[path]?.folder === false && existsSync(dirname(path));
    if (isOurs && readdirSync(dirname(path)).length === 0) rmdirSync(dirname(path));
  };
  function keep(): void {
    const before = known()[path];
    if (before !== undefined && before.left !== hashOf(read())) {
      const { left: _left, ...rest } = before;
      note({ ...rest, shared: true });
    }
    if (before !== undefined) return;
    if (existsSync(path)) put(backup, readFileSync(path));
    note({ existed: existsSync(path), ...(existsSync(dirname(path)) ? {} : { folder: false }) });
  }
  function forget(): void {
    if (known()[path] === undefined) return;
    rmSync(backup, { force: true });
    note(undefined);
  }

  return {
    path,
    backup,
    get existed() {
      return known()[path]?.existed ?? existsSync(path);
    },
    read,
    remove,
    async change(change) {
      const isFirst = known()[path] === undefined;
      const found = existsSync(path) ? readFileSync(path) : undefined;
      keep();
      try {
        const result = await change();
        const before = known()[path];
        if (before !== undefined && before.shared !== true) note({ ...before, left: hashOf(read()) });
        return result;
      } catch (error) {
        if (found === undefined) remove();
        else put(path, found);
        if (isFirst) forget();
        throw error;
      }
    },
    write(text) {
      makeFolderSync(dirname(path));
      put(path, Buffer.from(text));
    },
    restore() {
      const before = known()[path];
      if (before?.left === undefined || before.left !== hashOf(read())) return false;
      if (before.existed) renameSync(backup, path);
      else remove();
      note(undefined);
      return true;
    },
    forget,
  };
}

/** The same path whether the file is there or not, however it was named. */
function realPath(file: string): string {
  return existsSync(file) || dirname(file) === file
    ? realpathSync(file)
    : join(realPath(dirname(file)), basename(file));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
