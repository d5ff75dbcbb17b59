import { setTimeout as sleep } from 'node:timers/promises';

import { decodeJson, type Claims, ParleyError, type ScreenWord, ViewerWord } from '@parley/protocol';
import type { WebSocket } from 'ws';

import type { Exchange } from '../../exchange.ts';
import { createHold } from './hold.ts';
import { type Asked, createTerminalLine } from './line.ts';
import type { TerminalFaceOptions } from './options.ts';

/** Who came by which request, and what they look at. */
export interface Admitted {
  request: Exchange['request'];
  claims: Claims;
  target: { of_agent: string; of_session?: string };
}

/** One who looks at a terminal. */
export interface Viewer {
  close(code: number, reason: string): void;
  terminate(): void;
}

/** How long one look waits for something to change; it is also the sign of life of whoever has taken over. */
const LOOK_MS = 4_000;
/** So often it is asked whether the viewer is still there. */
const PING_MS = 5_000;
/** So long a session that is away is left in peace before it is looked for again. */
const AWAY_MS = { first: 500, longest: 5_000 };
const SIGNED_OUT = 4401;
const NOTHING = 4404;
const JSON_LIMITS = { bytes: 32_768, depth: 4, items: 20 };

/** Shows a terminal on a connection for as long as that lasts, and passes on the keys of whoever has taken it over. */
export function openViewer(
  ws: WebSocket,
  { request, claims, target }: Admitted,
  options: TerminalFaceOptions,
): Viewer {
  const { recheck, recheckMs } = options.streams;
  const ending = new AbortController();
  const { signal } = ending;
  const line = createTerminalLine(claims, target, signal, options);

  /** Settles when the viewer's side has taken it: what is slow is shown less often, and waits nowhere. */
  const say = (word: ScreenWord): Promise<void> =>
    new Promise((resolve) => {
      if (ws.readyState !== ws.OPEN) return resolve();
      ws.send(JSON.stringify(word), () => resolve());
    });
  const hold = createHold({
    claims,
    line,
    say: (word) => void say(word),
    identify: async () => options.authenticate(request),
  });

  /** Looks again and again; ends when there is nothing more to be seen. */
  async function show(): Promise<void> {
    let since: string | undefined;
    let pauseMs = AWAY_MS.first;
    while (!signal.aborted) {
      const lock = hold.sign();
      const asked = await line.look({ since, wait_ms: since === undefined ? 0 : LOOK_MS, ...lock });
      if (asked.is === 'answered') {
        pauseMs = AWAY_MS.first;
        const { yours, ...screen } = asked.answer;
        since = screen.version;
        hold.heard(lock.lock_id, yours);
        await say({ type: 'screen', ...screen });
        if (screen.ended) return ws.close(1000, 'the program has ended');
      } else if (asked.is === 'away') {
        if (pauseMs === AWAY_MS.first) await say({ type: 'away', message: asked.message });
        since = undefined;
        await sleep(pauseMs, undefined, { signal, ref: false });
        pauseMs = Math.min(AWAY_MS.longest, pauseMs * 2);
      } else return refuse(asked);
    }
  }

  async function refuse({ code, message, sessions }: Extract<Asked, { is: 'refused' }>): Promise<void> {
    await say({ type: 'nothing', code, message, ...(sessions === undefined ? {} : { sessions }) });
    ws.close(NOTHING, 'nothing to be seen');
  }

  function hear(data: Buffer, isBinary: boolean): void {
    let word;
    try {
      word = ViewerWord.parse(isBinary ? undefined : decodeJson(data.toString('utf8'), JSON_LIMITS));
    } catch {
      return void say({
        type: 'refused',
        code: 'VALIDATION_ERROR',
        message: 'this is nothing to be said here',
      });
    }
    if (word.type === 'take') hold.take(word.for_ms, word.force).catch(signOut);
    else if (word.type === 'keys') hold.type(word.keys);
    else hold.giveBack();
  }

  function signOut(): void {
    ws.close(SIGNED_OUT, 'this device was signed out');
  }

  let isThere = true;
  const pings = setInterval(() => {
    if (!isThere) return ws.terminate();
    isThere = false;
    ws.ping();
  }, PING_MS);
  const rechecks = setInterval(() => {
    try {
      recheck(claims);
    } catch {
      signOut();
    }
  }, recheckMs);
  ws.on('pong', () => (isThere = true));
  ws.on('message', (data: Buffer, isBinary) => {
    isThere = true;
    hear(data, isBinary);
  });
  // The close that follows tells all there is to know.
  ws.on('error', () => {});
  ws.on('close', () => {
    clearInterval(pings);
    clearInterval(rechecks);
    hold.lost();
    ending.abort();
  });
  show().catch((error: unknown) => {
    if (signal.aborted) return;
    const { code, message } =
      error instanceof ParleyError
        ? error
        : new ParleyError('INTERNAL', 'something went wrong inside the hub');
    void refuse({ is: 'refused', code, message });
  });
  return {
    close: (code, reason) => ws.close(code, reason),
    terminate: () => ws.terminate(),
  };
}
