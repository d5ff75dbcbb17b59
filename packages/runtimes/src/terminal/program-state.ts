import type { ProgramKind } from '@parley/protocol';

import type { Screen } from './open-screen.ts';

/** What a program is at, and how that is known. */
export interface ProgramState {
  state: 'idle' | 'working' | 'blocked';
  source: 'report' | 'title' | 'output';
  /** What it waits for, in its own words. */
  detail?: string;
}

/** The dots that turn in a title while the program works. */
const SPINNER = /^[\u2800-\u28ff]/;
/** What Codex writes before its title while it waits; the sign between the brackets blinks. */
const WANTS_ACTION = /^\[ . \] (Action Required)/;
/** A program that has been silent for so long is taken to be idle. */
const SILENT_MS = 1_500;

/** Tells what a program is at: by its own report, else by its title, else by whether it still writes. */
export function readState(kind: ProgramKind, screen: Screen, silentMs: number): ProgramState {
  const { status, title } = screen;
  if (status !== undefined) {
    const detail = status.message ?? status.kind;
    return { state: status.state, source: 'report', ...(detail === undefined ? {} : { detail }) };
  }
  if (SPINNER.test(title)) return { state: 'working', source: 'title' };
  const wish = WANTS_ACTION.exec(title)?.[1];
  if (wish !== undefined) return { state: 'blocked', source: 'title', detail: wish };
  if (kind === 'codex' && title !== '') return { state: 'idle', source: 'title' };
  return { state: silentMs < SILENT_MS ? 'working' : 'idle', source: 'output' };
}
