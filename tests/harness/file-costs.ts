/** Where each test file notes what it costs: one list a run, made anew. */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Runs before the first worker starts; without `/proc` nothing is noted. */
export async function setup(): Promise<void> {
  if (!existsSync('/proc/self/stat')) return;
  await mkdir('.cache', { recursive: true });
  const list = join(process.cwd(), '.cache', 'test-costs.jsonl');
  await rm(list, { force: true });
  process.env['FILE_COSTS'] = list;
}
