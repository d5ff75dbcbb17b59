import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { basename, extname, isAbsolute, relative, resolve } from 'node:path';

import { proxyError } from '../errors.ts';

export interface AgentFile {
  text: string;
  name: string;
  path: string;
}

const MOST_BYTES = 1_048_576;

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
  if (!roots.some((root) => root !== undefined && isInside(path, root)))
    return refuse('lies outside of the repository and of the agents folder of the user');
  // A pipe would wait for its writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(() =>
    refuse('does not exist or is not readable'),
  );
  try {
    const found = await file.stat();
    if (!found.isFile()) return refuse('is no plain file');
    if (found.size > MOST_BYTES) return refuse(`is larger than ${MOST_BYTES} bytes`);
    const bytes = await file.readFile();
    return { text: decode(bytes) ?? refuse('is not UTF-8 text'), name: nameOf(bytes, path), path };
  } finally {
    await file.close();
  }
}

function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== '' && !way.startsWith('..') && !isAbsolute(way);
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The name in the front matter, as agents of Claude Code have it, else the file's. */
function nameOf(bytes: Buffer, path: string): string {
  const front = /^---\r?\n([^]*?)\r?\n---/.exec(bytes.toString('utf8', 0, 8_192))?.[1] ?? '';
  return /^name:[ \t]*["']?([^"'\r\n]+)/m.exec(front)?.[1]?.trim() ?? basename(path, extname(path));
}
