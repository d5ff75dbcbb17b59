import { setTimeout as sleep } from 'node:timers/promises';

import { type Codex, type ResumeOptions, RuntimeError } from '@parley/runtimes';

const AGAIN_MS = 100;

/** Takes a thread up; the Codex of a proxy that was killed may need a moment to let go of it, and until then both could write. */
export async function resumeWhenFree(
  codex: Pick<Codex, 'resumeThread'>,
  threadId: string,
  options: ResumeOptions,
  giveUp: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      return await codex.resumeThread(threadId, options);
    } catch (error) {
      const isHeld = error instanceof RuntimeError && /active writer/i.test(error.message);
      if (!isHeld || giveUp.aborted) throw error;
    }
    await sleep(AGAIN_MS, undefined, { signal: giveUp }).catch(() => {});
  }
}
