import { isObject, type Loose } from '../process/rpc-peer.ts';

/** A line of a record; undefined for anything but an object. */
export function recordLine(text: string): Loose | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The hub's own first sentence; the rest of a prompt is nobody's business. */
const WAKE =
  /\[parley\] \S+, you have unread messages in thread (th_[0-9A-Za-z]+) from [^\n]{0,600}\(wake wk_/;

/** The thread whose wake this prompt is. */
export function threadOfWake(prompt: string): string | undefined {
  return WAKE.exec(prompt)?.[1];
}
