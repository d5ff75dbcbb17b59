import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** Where notifications go: the one GET stream, once the client has opened it. */
export interface PushStream {
  response: ServerResponse | undefined;
  onOpen: Set<() => void>;
}

/** The client has opened its stream: what waited for it can be written. */
export function openPush(push: PushStream, response: ServerResponse): void {
  push.response = response;
  for (const opened of push.onOpen) opened();
  push.onOpen.clear();
}

/** Waits for the GET stream to be there, and for its reader to keep up. */
export async function pushable(push: PushStream, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { response } = push;
    if (response === undefined || response.destroyed) await opening(push, signal);
    else if (response.writableNeedDrain)
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
    else return;
  }
}

function opening(push: PushStream, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      push.onOpen.delete(done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    push.onOpen.add(done);
    signal.addEventListener('abort', done);
  });
}
