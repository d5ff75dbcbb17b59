import { type FileHandle, lstat, readlink, realpath } from 'node:fs/promises';
import { basename, extname, isAbsolute, relative, resolve } from 'node:path';

import { errorText } from '@parley/protocol';
import { proxyError } from '../errors.ts';
import { readText } from './read-text.ts';

export interface AgentFile {
  text: string;
  name: string;
  path: string;
}

const OUTSIDE = 'lies outside of the repository and of the agents folder of the user';

/** Reads a prompt file from one of the folders; links out of them, devices and pipes are as good as missing. */
export async function readAgentFile(
  given: string,
  cwd: string,
  folders: readonly string[],
): Promise<AgentFile> {
  const refuse = (why: string): never => {
    throw proxyError('AGENT_FILE_NOT_FOUND', `agent_file ${JSON.stringify(given)} ${why}`, {
      agent_file: given,
    });
  };
  if (given.includes('\0')) return refuse('is no path');
  const path = await realpath(resolve(cwd, given)).catch(() => refuse('does not exist or is not readable'));
  const roots = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)));
  const checkPlace = (place: string | undefined): void => {
    if (!roots.some((root) => root !== undefined && place !== undefined && isInside(place, root)))
      throw new Error(OUTSIDE);
  };
  // The way to the file may have been changed since: what counts is the file that was opened.
  const check = async (file: FileHandle): Promise<void> => checkPlace(await placeOf(file, path));
  try {
    checkPlace(path);
    const text = await readText(path, { noLink: true, check });
    return { text, name: nameOf(text, path), path };
  } catch (error) {
    return refuse(errorText(error));
  }
}

/** Where an open file is. Only the kernel knows it for certain; where it does not tell, the path must lead to the same file twice. */
async function placeOf(file: FileHandle, path: string): Promise<string | undefined> {
  const reported = await readlink(`/proc/self/fd/${file.fd}`).catch(() => undefined);
  if (reported !== undefined) return reported;
  const before = await realpath(path).catch(() => undefined);
  const { dev, ino } = await file.stat({ bigint: true });
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  const after = await realpath(path).catch(() => undefined);
  return before === after && found?.dev === dev && found.ino === ino ? after : undefined;
}

function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== '' && !way.startsWith('..') && !isAbsolute(way);
}

/** The name in the front matter, as agents of Claude Code have it, else the file's. */
function nameOf(text: string, path: string): string {
  const front = /^---\r?\n([^]*?)\r?\n---/.exec(text.slice(0, 8_192))?.[1] ?? '';
  return /^name:[ \t]*["']?([^"'\r\n]+)/m.exec(front)?.[1]?.trim() ?? basename(path, extname(path));
}
