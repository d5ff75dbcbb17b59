import { readdir } from 'node:fs/promises';
import path from 'node:path';

import { objectAt, textAt } from '../process/rpc-peer.ts';
import { openWithin } from './open-within.ts';
import { recordLine } from './record-line.ts';

const DAY_MS = 86_400_000;
/** Its first line holds the instructions too. */
const HEAD_BYTES = 1_048_576;

/** The rollout of a thread, by its path within CODEX_HOME: it stands under the day on which it began, and the id tells when. */
export async function codexRollout(home: string, id: string): Promise<string[]> {
  const began = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
  for (const days of [0, -1, 1]) {
    const day = new Date(began + days * DAY_MS);
    if (Number.isNaN(day.getTime())) return [];
    const folder = path.join('sessions', ...day.toISOString().slice(0, 10).split('-'));
    const names = await readdir(path.join(home, folder)).catch(() => []);
    const found = names.find((name) => name.startsWith('rollout-') && name.endsWith(`${id}.jsonl`));
    if (found !== undefined) return [path.join(folder, found)];
  }
  return [];
}

/** The folder in which a thread was begun. */
export async function codexFolderOf(home: string, id: string): Promise<string | undefined> {
  const [name] = await codexRollout(home, id);
  const file = name === undefined ? undefined : await openWithin(home, path.join(home, name));
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const [head = ''] = buffer.subarray(0, bytesRead).toString().split('\n', 1);
    return textAt(objectAt(recordLine(head) ?? {}, 'payload'), 'cwd');
  } finally {
    await file.close();
  }
}
