import { writeSync } from 'node:fs';

import { errorCode } from '@parley/protocol';
/** Bytes on their way into a terminal; what the program does not read waits here, not in a blocked write. */
export interface PtyInput {
  /** False when a lot is waiting: whoever writes should pause until `onDrain`. */
  write(data: Buffer): boolean;
  /** A lot is waiting. */
  readonly full: boolean;
  /** Drops what is waiting; the descriptor is not touched again. */
  close(): void;
}

const PLENTY = 65_536;
const SOONEST_MS = 2;
const LATEST_MS = 50;

/** Queues input for a descriptor that does not block. */
export function createPtyInput(fd: number, onDrain: () => void): PtyInput {
  let waiting: Buffer[] = [];
  let size = 0;
  let full = false;
  let closed = false;
  let delay = SOONEST_MS;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    timer = undefined;
    while (waiting.length > 0) {
      const written = tryWrite(waiting[0]!);
      if (written === undefined) return close();
      if (written > 0) delay = SOONEST_MS;
      size -= written;
      const rest = waiting[0]!.subarray(written);
      if (rest.length > 0) {
        waiting[0] = rest;
        // Nothing tells when a terminal has room again: look, less and less often.
        timer = setTimeout(flush, delay);
        delay = Math.min(delay * 2, LATEST_MS);
        break;
      }
      waiting.shift();
    }
    if (full && size < PLENTY) {
      full = false;
      onDrain();
    }
  }

  /** How many bytes went out; undefined when the terminal is gone. */
  function tryWrite(bytes: Buffer): number | undefined {
    try {
      return writeSync(fd, bytes);
    } catch (error) {
      return errorCode(error) === 'EAGAIN' ? 0 : undefined;
    }
  }

  function close(): void {
    closed = true;
    clearTimeout(timer);
    waiting = [];
    size = 0;
  }

  return {
    write(data) {
      if (closed || data.length === 0) return true;
      waiting.push(data);
      size += data.length;
      if (timer === undefined) flush();
      full ||= size >= PLENTY;
      return !full;
    },
    get full() {
      return full;
    },
    close,
  };
}
