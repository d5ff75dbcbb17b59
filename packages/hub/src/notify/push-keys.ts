import type { StateFiles } from '@parley/core';
import * as z from 'zod';

/** The file that holds the keys by which push services know this hub. */
const PUSH_FILE = 'push.json';

const PushKeys = z.object({ publicKey: z.string().min(80), privateKey: z.string().min(40) });
export type PushKeys = z.infer<typeof PushKeys>;

/** The hub's push keys, made once: browsers are subscribed to them and would have to subscribe anew. */
export async function pushKeys(stateFiles: StateFiles): Promise<PushKeys> {
  if (stateFiles.look(PUSH_FILE).text === undefined) {
    const { default: webPush } = await import('web-push');
    const keys = webPush.generateVAPIDKeys();
    await stateFiles.change(PUSH_FILE, (text) => text ?? `${JSON.stringify(keys)}\n`);
  }
  return PushKeys.parse(JSON.parse(stateFiles.look(PUSH_FILE).text ?? ''));
}
