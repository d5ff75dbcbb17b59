import { write } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Lines on their way to a descriptor, in the background, whether somebody reads them or not. */
export interface LogOutput {
  /** Takes lines, or drops and counts them while too many wait already. */
  write(lines: string): void;
  /** Ends the process when all is out, or when nobody has read it for a while. */
  end(exitCode: number): Promise<never>;
}

/** As much as may wait for a reader. */
const MOST_CHARS = 4_194_304;

/** A full pipe is tried again so often. */
const AGAIN_MS = 20;

/** What is not read so long after the end is not waited for. */
const END_MS = 1_000;

const NOTHING = Buffer.alloc(0);

/** Opens a descriptor that may be a pipe which nobody reads, or nobody any more. */
export function openLogOutput(fd: number): LogOutput {
  let waiting = '';
  let dropped = 0;
  let piece = NOTHING;
  let state: 'idle' | 'writing' | 'waiting' = 'idle';
  let onIdle = (): void => {};

  function goOn(): void {
    if (piece.length === 0) {
      piece = Buffer.from(waiting + droppedLine());
      waiting = '';
    }
    if (piece.length === 0) {
      state = 'idle';
      onIdle();
      return;
    }
    state = 'writing';
    write(fd, piece, 0, piece.length, null, (error, written) => {
      if (error?.code === 'EAGAIN') {
        state = 'waiting';
        setTimeout(goOn, AGAIN_MS).unref();
        return;
      }
      // Who closed the other end, or has no space, misses these lines; the hub goes on.
      piece = error === null ? piece.subarray(written) : NOTHING;
      goOn();
    });
  }

  function droppedLine(): string {
    if (dropped === 0) return '';
    const time = new Date().toISOString();
    const line = `{"level":"warn","time":"${time}","chars":${dropped},"msg":"log lines were dropped, as nobody read them"}\n`;
    dropped = 0;
    return line;
  }

  return {
    write(lines) {
      if (waiting.length + lines.length > MOST_CHARS) dropped += lines.length;
      else waiting += lines;
      if (state === 'idle') goOn();
    },
    async end(exitCode) {
      const idle = new Promise<void>((resolve) => (onIdle = resolve));
      if (state !== 'idle') await Promise.race([idle, sleep(END_MS)]);
      // A thread that is held in a write keeps `exit` waiting for ever.
      if (state === 'writing') process.kill(process.pid, 'SIGKILL');
      process.exit(exitCode);
    },
  };
}
