import { join } from 'node:path';

import { z } from 'zod';

import { readPrivateFile, writePrivateFile } from '../data-folder.ts';

/** The file that holds the keys by which push services know this hub. */
const PUSH_FILE = 'push.json';

const PushKeys = z.object({ publicKey: z.string().min(80), privateKey: z.string().min(40) });
export type PushKeys = z.infer<typeof PushKeys>;

/** The hub's push keys, made once: browsers are subscribed to them and would have to subscribe anew. */
export async function pushKeys(folder: string): Promise<PushKeys> {
  const path = join(folder, PUSH_FILE);
  const text = readPrivateFile(path);
  if (text !== undefined) return PushKeys.parse(JSON.parse(text));
  const { default: webPush } = await import('web-push');
  const keys = webPush.generateVAPIDKeys();
  writePrivateFile(path, `${JSON.stringify(keys)}\n`);
  return keys;
}
