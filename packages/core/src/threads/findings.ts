import { type Caller, type EventType, ParleyError } from '@parley/protocol';

import type { Entry } from '../entry.ts';
import { mayOverride } from './status.ts';

/** A finding that is not settled: open, or rejected by someone other than its reporter. */
export interface Finding {
  message_id: string;
  seq: number;
  by: string;
  text: string;
  rejected: boolean;
  /** Whom somebody else asked to look again; the newest last. */
  reviewers?: readonly string[];
  finding_id?: string;
  task_id?: string;
  severity?: string;
  file?: string;
  line?: number;
}

/** How many unsettled findings one thread may hold: its state stays small. */
export const MAX_FINDINGS = 500;

/** So many reviewers of one finding are remembered. */
const MAX_REVIEWERS = 8;

const EXCERPT = 160;

/**
 * The unsettled findings after an event: reported opens one, verified or the reporter's own rejection settles it, a
 * request for another review names who may.
 */
export function foldFindings(
  findings: readonly Finding[],
  event: EventType,
  entry: Entry,
): readonly Finding[] {
  if (event === 'finding_reported') return [...findings, toFinding(entry)];
  if (event === 're_review_requested') return nameReviewer(findings, entry);
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

/** Refuses the verdict of one whose word does not count: who fixed it is not the judge of it. */
export function checkSettling(
  findings: readonly Finding[],
  event: EventType | undefined,
  verdict: Pick<Entry, 'metadata' | 'in_reply_to'>,
  caller: Caller,
): void {
  if (event !== 'finding_verified' || mayOverride(caller)) return;
  const { agent_id } = caller;
  // One that answers a finding and names another would look like a verdict on the first.
  const named = findTarget(findings, verdict);
  const target = findings.find(
    (finding) =>
      (finding === named || finding.message_id === verdict.in_reply_to) &&
      finding.by !== agent_id &&
      finding.reviewers?.includes(agent_id) !== true,
  );
  if (target === undefined) return;
  throw new ParleyError(
    'INSUFFICIENT_AUTHORITY',
    `only ${target.by}, who reported it, a reviewer whom somebody else named, an operator or an orchestrator may settle this finding`,
    { finding: target.message_id, reported_by: target.by },
  );
}

/** Nobody makes themselves the reviewer. */
function nameReviewer(findings: readonly Finding[], entry: Entry): readonly Finding[] {
  const { metadata, to, sender_agent_id } = entry;
  const named = text(metadata?.['reviewer']) ?? to;
  if (named === undefined || named === sender_agent_id || named.length > LONGEST_NAME) return findings;
  const one = findTarget(findings, entry);
  const task = text(metadata?.['task_id']);
  const isMeant = (finding: Finding): boolean =>
    one === undefined
      ? metadata?.['finding_id'] === undefined && (task === undefined || finding.task_id === task)
      : finding === one;
  return findings.map((finding) => {
    if (!isMeant(finding)) return finding;
    const others = (finding.reviewers ?? []).filter((name) => name !== named);
    return { ...finding, reviewers: [...others, named].slice(-MAX_REVIEWERS) };
  });
}

const LONGEST_NAME = 128;

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
  const reviewer = text(metadata['reviewer']);
  if (reviewer !== undefined && reviewer.length <= LONGEST_NAME) finding.reviewers = [reviewer];
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
