import { open, readdir } from 'node:fs/promises';
import path from 'node:path';

/** How much of a transcript's end is looked through. */
const TAIL_BYTES = 524_288;

/** The end of the session's own record; empty where there is none. */
export async function transcriptTail(configFolder: string, sessionId: string): Promise<string> {
  const projects = path.join(configFolder, 'projects');
  for (const project of await readdir(projects).catch(() => [])) {
    const file = await open(path.join(projects, project, `${sessionId}.jsonl`)).catch(() => undefined);
    if (file === undefined) continue;
    try {
      const { size } = await file.stat();
      const length = Math.min(size, TAIL_BYTES);
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
      return buffer.toString();
    } finally {
      await file.close();
    }
  }
  return '';
}

/** The wakes that the end of the session's own record holds, oldest first. */
export async function wakesInTranscript(configFolder: string, sessionId: string): Promise<string[]> {
  const found = (await transcriptTail(configFolder, sessionId)).matchAll(/\(wake (wk_[0-9A-Za-z]+),/g);
  return [...new Set([...found].map(([, id = '']) => id))];
}
