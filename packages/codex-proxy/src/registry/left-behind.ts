import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { truncate, writeWhole } from '@parley/mail';
import { hideSecrets, showUnseen } from '@parley/protocol';
import type { TurnResult } from '@parley/runtimes';

import type { Log } from '../logger.ts';
import type { SessionRecord } from './session-record.ts';
import { SUMMARY, summaryPath } from './summary-path.ts';

/** What sessions leave for whoever resumes them: the agent's own summary, or the proxy's note of the last turn. */
export interface LeftBehind {
  /** Notes a turn that has ended; a summary of an earlier end no longer tells how the session stands. */
  noteTurn(record: SessionRecord, prompt: string, end: TurnResult | Error): void;
  keepSummary(record: SessionRecord, text: string): void;
  summaryOf(record: SessionRecord): Promise<string | undefined>;
  /** What goes before the first turn of a session that is resumed, with a word on what it is. */
  prefaceOf(record: SessionRecord): Promise<string | undefined>;
  /** Settles when all that was told so far is on disk, or was found impossible to write. */
  written(): Promise<void>;
}

/** What is asked of a session that closes. */
export const SUMMARY_PROMPT =
  'This session is about to be closed. Do not start any work or use any tool. In at most 300 words, sum up for whoever resumes it: the goal, what was done and decided, what is open, and the next step.';

/** Far less than a client gives a server to end. */
const SOON_MS = 100;
const SNAPSHOT = 'snapshot.md';
const PROMPT_CHARS = 1_000;
const ANSWER_CHARS = 4_000;

/** What is to stand in the folder of a thread; null: nothing, whatever stands there. */
interface Owed {
  snapshot?: () => string;
  summary?: string | null;
}

/** Keeps `summary.md` and `snapshot.md` in the folder of each thread; of notes that follow each other closely only the last is written. */
export function createLeftBehind(teamFolder: string, log: Log, now: () => Date): LeftBehind {
  const owedByFolder = new Map<string, Owed>();
  const timers = new Map<string, NodeJS.Timeout>();
  const writes = new Map<string, Promise<void>>();

  const settle = async (folder: string, { snapshot, summary }: Owed): Promise<void> => {
    try {
      if (snapshot !== undefined) await writeWhole(join(folder, SNAPSHOT), snapshot());
      if (summary === null) await rm(join(folder, SUMMARY), { force: true });
      else if (summary !== undefined) await writeWhole(join(folder, SUMMARY), summary);
    } catch (error) {
      log('error', 'what a session leaves behind could not be written', { folder, error: String(error) });
    }
  };
  /** Writes what is owed now; settles when it stands there, and all that was owed before. */
  const write = async (folder: string): Promise<void> => {
    clearTimeout(timers.get(folder));
    timers.delete(folder);
    const owed = owedByFolder.get(folder);
    owedByFolder.delete(folder);
    const before = writes.get(folder) ?? Promise.resolve();
    if (owed === undefined) return before;
    const done = before.then(() => settle(folder, owed));
    writes.set(folder, done);
    await done;
    if (writes.get(folder) === done) writes.delete(folder);
  };
  const owe = (record: SessionRecord, owed: Owed): void => {
    const summary = summaryPath(teamFolder, record);
    if (summary === undefined) return;
    const folder = dirname(summary);
    owedByFolder.set(folder, { ...owedByFolder.get(folder), ...owed });
    if (!timers.has(folder))
      timers.set(
        folder,
        setTimeout(() => void write(folder), SOON_MS),
      );
  };
  const read = async (path: string): Promise<string | undefined> => {
    await write(dirname(path));
    const text = await readFile(path, 'utf8').catch(() => '');
    // Whoever wrote it: an earlier version, or somebody else.
    return fit(text).trim() || undefined;
  };
  const left: LeftBehind = {
    noteTurn(record, prompt, end) {
      const at = now();
      owe(record, { snapshot: () => snapshotOf(at, prompt, end), summary: null });
    },
    keepSummary: (record, text) => owe(record, { summary: `${fit(text)}\n` }),
    async summaryOf(record) {
      const summary = summaryPath(teamFolder, record);
      return summary === undefined ? undefined : read(summary);
    },
    async prefaceOf(record) {
      // The proxy of a stale session had no time for anything.
      if (record.status === 'stale') return undefined;
      const summary = await left.summaryOf(record);
      if (summary !== undefined) return `Summary of this session when it was closed:\n\n${summary}`;
      const path = summaryPath(teamFolder, record);
      if (record.status !== 'interrupted' || path === undefined) return undefined;
      const snapshot = await read(join(dirname(path), SNAPSHOT));
      return (
        snapshot &&
        `This session was closed before it could sum up. Its last turn, as noted then:\n\n${snapshot}`
      );
    },
    async written() {
      await Promise.all([...new Set([...owedByFolder.keys(), ...writes.keys()])].map(write));
    },
  };
  return left;
}

function snapshotOf(at: Date, prompt: string, end: TurnResult | Error): string {
  const said = end instanceof Error ? '' : end.text;
  const how = end instanceof Error ? `failed: ${truncate(fit(end.message), PROMPT_CHARS)}` : end.status;
  const parts = [
    `It ended ${at.toISOString()} (${how}).`,
    `Asked:\n\n${truncate(fit(prompt), PROMPT_CHARS)}`,
  ];
  if (said !== '') parts.push(`Answered:\n\n${truncate(fit(said), ANSWER_CHARS)}`);
  return `${parts.join('\n\n')}\n`;
}

/** A text without secrets and with nothing hidden, as it may be kept. */
function fit(text: string): string {
  return showUnseen(hideSecrets(text));
}
