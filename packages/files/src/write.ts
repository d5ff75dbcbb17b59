import { renameSync, rmSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

import { ParleyError, errorCode } from '@parley/protocol';

import { type Content, fill, fillSync, type LaterContent } from './fill.ts';
import { syncFolder, syncFolderSync } from './folders.ts';
import { temporaryBeside } from './temporary-beside.ts';

const PRIVATE = 0o600;

/** Puts a file in place, over an old one or not: whole and durable, or all is as it was. */
export async function writeWhole(path: string, content: LaterContent, mode = PRIVATE): Promise<void> {
  const temporary = temporaryBeside(path);
  try {
    await fill(temporary, content, mode);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw inWords(error);
  }
  await syncFolder(dirname(path));
}

/** As `writeWhole`, where nothing may be awaited. */
export function writeWholeSync(path: string, content: Content, mode = PRIVATE): void {
  const temporary = temporaryBeside(path);
  try {
    fillSync(temporary, content, mode);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw inWords(error);
  }
  syncFolderSync(dirname(path));
}

/** Writes a new file where it need not appear at once: all of it or none. Its name lasts once the folder is synced. */
export async function writeNew(path: string, content: LaterContent, mode = PRIVATE): Promise<void> {
  try {
    await fill(path, content, mode);
  } catch (error) {
    throw inWords(error);
  }
}

/** As `writeNew`, where nothing may be awaited. */
export function writeNewSync(path: string, content: Content, mode = PRIVATE): void {
  try {
    fillSync(path, content, mode);
  } catch (error) {
    throw inWords(error);
  }
}

const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** A full disk in words that a caller may see; any other error as it is. */
export function inWords(error: unknown): unknown {
  const isFull = FULL.has(errorCode(error));
  return isFull ? new ParleyError('UNAVAILABLE', 'the disk is full; nothing was written') : error;
}
