import type { RuntimeError } from '../runtime-error.ts';
import type { TokenUsage, TurnFailure, TurnResult } from './backend.ts';

/** How a turn came to its end, as far as the child told. */
export interface TurnEnd {
  status: TurnResult['status'];
  /** The agent's last word; without it, what was gathered. */
  text?: string;
  error?: TurnFailure;
  durationMs?: number;
}

/** A turn that runs, or whose end the child has not yet confirmed. */
export interface OpenTurn {
  /** Empty until the child has named the thread. */
  threadId: string;
  turnId: string | undefined;
  /** The child has begun it: before that it cannot be interrupted. */
  hasStarted: boolean;
  wantsInterrupt: boolean;
  usage: TokenUsage | undefined;
  /** Stands instead of the child's own account of the end. */
  verdict: TurnFailure | undefined;
  readonly isSettled: boolean;
  readonly result: Promise<TurnResult>;
  addText(itemId: string, delta: string): void;
  setText(itemId: string, text: string): void;
  /** The child has put what the turn was given into its thread. */
  take(): void;
  /** Asks the child to stop and gives up after the grace. */
  stop(): void;
  /** Asks the child again, if it was asked to stop, even when nobody waits for the turn any more. */
  repeatInterrupt(): void;
  settle(end: TurnEnd): void;
  /** The turn never began. */
  fail(error: RuntimeError): void;
}

export interface OpenTurnOptions {
  threadId: string;
  signal: AbortSignal | undefined;
  interruptMs: number;
  /** Called once, when the child has taken the turn. */
  onTaken?: (() => void) | undefined;
  /** Asks the child to stop; it is called again until the turn has ended. */
  interrupt: (turn: OpenTurn) => void;
}

const MAX_TEXT = 1_048_576;
const REPEAT_MS = 500;

/** Opens the account of a turn, which is settled exactly once and then holds no timer and no listener. */
export function openTurn(options: OpenTurnOptions): OpenTurn {
  const { threadId, signal, interruptMs, interrupt } = options;
  const { promise, resolve, reject } = withResolvers<TurnResult>();
  const startedAt = performance.now();
  const textById = new Map<string, string>();
  let isSettled = false;
  let { onTaken } = options;
  let giveUp: NodeJS.Timeout | undefined;
  let again: NodeJS.Timeout | undefined;
  const onAbort = (): void => turn.stop();

  const turn: OpenTurn = {
    threadId,
    turnId: undefined,
    hasStarted: false,
    wantsInterrupt: false,
    usage: undefined,
    verdict: undefined,
    get isSettled() {
      return isSettled;
    },
    result: promise,
    addText(itemId, delta) {
      turn.setText(itemId, (textById.get(itemId) ?? '') + delta);
    },
    setText(itemId, text) {
      if (!isSettled) textById.set(itemId, text.slice(-MAX_TEXT));
    },
    take() {
      const tell = onTaken;
      onTaken = undefined;
      tell?.();
    },
    stop() {
      if (isSettled || turn.wantsInterrupt) return;
      turn.wantsInterrupt = true;
      giveUp = setTimeout(() => {
        const message = 'interrupted, but the child has not confirmed it';
        turn.settle({ status: 'interrupted', error: { code: 'unconfirmed', message } });
      }, interruptMs);
      again = setInterval(() => interrupt(turn), REPEAT_MS);
      interrupt(turn);
    },
    repeatInterrupt() {
      if (turn.wantsInterrupt) interrupt(turn);
    },
    settle(end) {
      if (isSettled) return;
      close();
      if (end.status === 'completed') turn.take();
      const error = turn.verdict ?? reasonOf(end, signal);
      resolve({
        threadId: turn.threadId,
        turnId: turn.turnId,
        status: turn.verdict === undefined ? end.status : 'failed',
        text: end.text ?? [...textById.values()].join('\n\n').slice(-MAX_TEXT),
        ...(error === undefined ? {} : { error }),
        ...(turn.usage === undefined ? {} : { usage: turn.usage }),
        durationMs: end.durationMs ?? Math.round(performance.now() - startedAt),
      });
      textById.clear();
    },
    fail(error) {
      if (isSettled) return;
      close();
      reject(error);
    },
  };

  function close(): void {
    isSettled = true;
    clearTimeout(giveUp);
    clearInterval(again);
    signal?.removeEventListener('abort', onAbort);
  }

  // Callers who gave up waiting must not be hit by an unhandled rejection.
  promise.catch(() => {});
  if (signal?.aborted === true) turn.settle({ status: 'interrupted' });
  else signal?.addEventListener('abort', onAbort, { once: true });
  return turn;
}

function reasonOf(end: TurnEnd, signal: AbortSignal | undefined): TurnFailure | undefined {
  const aborted = signal?.aborted === true && end.status === 'interrupted';
  if (!aborted || end.error?.code === 'unconfirmed') return end.error;
  return { code: 'aborted', message: reasonText(signal.reason) };
}

function reasonText(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}

/** A promise and its two ends. */
export function withResolvers<T>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: Error) => void;
} {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
