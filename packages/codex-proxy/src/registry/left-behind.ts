import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { truncate, writeWhole } from '@parley/mail';
import { hideSecrets, showUnseen } from '@parley/protocol';
import type { TurnResult } from '@parley/runtimes';

import type { Log } from '../logger.ts';
import type { SessionRecord } from './session-record.ts';
import { summaryPath } from './summary-path.ts';

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

const PROMPT_CHARS = 1_000;
const ANSWER_CHARS = 4_000;

/** Keeps `summary.md` and `snapshot.md` in the folder of each thread; what concerns one thread is written in order. */
export function createLeftBehind(teamFolder: string, log: Log, now: () => Date): LeftBehind {
  const writes = new Map<string, Promise<void>>();

  const inOrder = (path: string, write: () => Promise<unknown>): void => {
    const done = (writes.get(path) ?? Promise.resolve())
      .then(write)
      .then(
        () => {},
        (error: unknown) =>
          log('error', 'what a session leaves behind could not be written', { path, error: String(error) }),
      )
      .then(() => {
        if (writes.get(path) === done) writes.delete(path);
      });
    writes.set(path, done);
  };
  const read = async (path: string): Promise<string | undefined> => {
    await writes.get(dirname(path));
    const text = await readFile(path, 'utf8').catch(() => '');
    return text.trim() || undefined;
  };
  const left: LeftBehind = {
    noteTurn(record, prompt, end) {
      const summary = summaryPath(teamFolder, record);
      if (summary === undefined) return;
      const text = snapshotOf(now(), prompt, end);
      inOrder(dirname(summary), async () => {
        await writeWhole(snapshotPath(summary), text);
        await rm(summary, { force: true });
      });
    },
    keepSummary(record, text) {
      const summary = summaryPath(teamFolder, record);
      if (summary !== undefined) inOrder(dirname(summary), () => writeWhole(summary, `${fit(text)}\n`));
    },
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
      const snapshot = await read(snapshotPath(path));
      return (
        snapshot &&
        `This session was closed before it could sum up. Its last turn, as noted then:\n\n${snapshot}`
      );
    },
    async written() {
      await Promise.all(writes.values());
    },
  };
  return left;
}

function snapshotPath(summary: string): string {
  return join(dirname(summary), 'snapshot.md');
}

function snapshotOf(at: Date, prompt: string, end: TurnResult | Error): string {
  const said = end instanceof Error ? '' : end.text;
  const how = end instanceof Error ? `failed: ${end.message}` : end.status;
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
