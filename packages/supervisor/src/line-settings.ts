import { spawnSync } from 'node:child_process';
import type { ReadStream } from 'node:tty';

/** The settings of the person's terminal line: how keys and output are treated on their way. */
export interface LineSettings {
  /** Nothing is treated: every key and every byte of output passes as it is. */
  raw(): void;
  /** As it was found. */
  restore(): void;
}

/**
 * Takes hold of the settings of the terminal at our standard input. Node's own raw mode leaves the treatment of output
 * on, so that a line feed would become two characters; `stty` can switch it off, and puts back exactly what was there.
 */
export function holdLineSettings(stdin: ReadStream): LineSettings {
  const found = stty(['-g'])?.trim();
  if (found === undefined || !/^[0-9a-zA-Z:=]+$/.test(found)) {
    return { raw: () => setRaw(stdin, true), restore: () => setRaw(stdin, false) };
  }
  return {
    raw: () => void stty(['raw', '-echo']),
    restore: () => void stty([found]),
  };
}

function stty(args: string[]): string | undefined {
  const { status, stdout } = spawnSync('stty', args, {
    stdio: ['inherit', 'pipe', 'ignore'],
    encoding: 'utf8',
  });
  return status === 0 ? stdout : undefined;
}

function setRaw(stdin: ReadStream, on: boolean): void {
  if (!stdin.destroyed) stdin.setRawMode(on);
}
