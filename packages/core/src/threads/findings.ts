import { type EventType, ParleyError } from '@parley/protocol';

import type { Entry } from '../entry.ts';

/** A finding that is not settled: open, or rejected by someone other than its reporter. */
export interface Finding {
  message_id: string;
  seq: number;
  by: string;
  text: string;
  rejected: boolean;
  finding_id?: string;
  task_id?: string;
  severity?: string;
  file?: string;
  line?: number;
}

/** How many unsettled findings one thread may hold: its state stays small. */
export const MAX_FINDINGS = 500;

const EXCERPT = 160;

/** The unsettled findings after an event: reported opens one, verified or the reporter's own rejection settles it. */
export function foldFindings(
  findings: readonly Finding[],
  event: EventType,
  entry: Entry,
): readonly Finding[] {
  if (event === 'finding_reported') return [...findings, toFinding(entry)];
  if (event !== 'finding_verified' && event !== 'finding_rejected') return findings;
  const target = findTarget(findings, entry);
  if (target === undefined) return findings;
  if (event === 'finding_rejected' && entry.sender_agent_id !== target.by) {
    return findings.map((finding) => (finding === target ? { ...finding, rejected: true } : finding));
  }
  return findings.filter((finding) => finding !== target);
}

/** Refuses the report that would outgrow the thread's state. */
export function checkRoom(findings: readonly Finding[], event: EventType | undefined): void {
  if (event === 'finding_reported' && findings.length >= MAX_FINDINGS) {
    throw new ParleyError(
      'CONFLICT',
      `${MAX_FINDINGS} findings are open in this thread; verify or reject some first`,
    );
  }
}

/** The finding an event speaks of: by finding_id, by reply, by task, or the only one there is. */
export function findTarget<F extends Pick<Finding, 'message_id' | 'finding_id' | 'task_id'>>(
  findings: readonly F[],
  entry: Pick<Entry, 'metadata' | 'in_reply_to'>,
): F | undefined {
  const id = text(entry.metadata?.['finding_id']);
  if (id !== undefined)
    return findings.find((finding) => finding.finding_id === id || finding.message_id === id);
  const replied = findings.find((finding) => finding.message_id === entry.in_reply_to);
  if (replied !== undefined) return replied;
  const task = text(entry.metadata?.['task_id']);
  const candidates = task === undefined ? findings : findings.filter((finding) => finding.task_id === task);
  return candidates.length === 1 ? candidates[0] : undefined;
}

/** What the state keeps of a finding_reported entry. */
export function toFinding(entry: Entry): Finding {
  const { metadata = {} } = entry;
  const finding: Finding = {
    message_id: entry.message_id,
    seq: entry.seq,
    by: entry.sender_agent_id,
    text: excerpt(entry.body),
    rejected: false,
  };
  for (const key of ['finding_id', 'task_id', 'severity', 'file'] as const) {
    const value = text(metadata[key]);
    if (value !== undefined) finding[key] = value;
  }
  if (typeof metadata['line'] === 'number') finding.line = metadata['line'];
  return finding;
}

/** The first words of a text, cut between code points. */
export function excerpt(body: string): string {
  const line = body.replaceAll(/\s+/g, ' ').trim();
  return line.length <= EXCERPT ? line : `${line.slice(0, EXCERPT - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 2_000) : undefined;
}
