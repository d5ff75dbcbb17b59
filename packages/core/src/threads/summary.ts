import { type EventType, knownEvent, type OutputOf, plainWords } from '@parley/protocol';

import type { Entry } from '../entry.ts';
import { excerpt, type Finding, toFinding } from './findings.ts';
import type { ThreadState } from './state.ts';

type Summary = OutputOf<'summarize_thread'>;
type OpenItem = Summary['open_items'][number];

/** Writes prose from the facts of a summary and the messages behind it; undefined when it could not. */
export type Prose = (
  facts: string,
  messages: readonly Entry[],
  signal: AbortSignal,
) => Promise<string | undefined>;

interface Course {
  reported: number;
  reportedBySeverity: Map<string, number>;
  verified: number;
  rejected: number;
  commits: Set<string>;
  files: Set<string>;
  requests: Entry[];
}

/** How many unanswered requests are followed: the newest of them. */
const MAX_REQUESTS = 500;

/** What happened, what is open, who spoke last: the same for the same log, with or without a model. */
export async function summarize(
  state: ThreadState,
  entries: readonly Entry[],
  prose: Prose | undefined,
  signal: AbortSignal,
): Promise<Summary> {
  const messages = entries.filter((entry) => entry.type === 'message');
  const course = await followCourse(messages);
  const open_items = [
    ...state.findings.filter((finding) => !finding.rejected).map(findingItem),
    ...course.requests.map(requestItem),
  ];
  const facts = describe(state, messages, course, open_items);
  const written = await prose?.(facts, messages, signal);
  return {
    summary: written ?? facts,
    open_items,
    last_status: state.status,
    messages_read: messages.length,
    through_seq: state.last_seq,
    written_by: written === undefined ? 'rules' : 'model',
  };
}

/** A long log is followed in short runs, so that other calls get their turn in between. */
const RUN = 250;

async function followCourse(messages: readonly Entry[]): Promise<Course> {
  const course: Course = {
    reported: 0,
    reportedBySeverity: new Map(),
    verified: 0,
    rejected: 0,
    commits: new Set(),
    files: new Set(),
    requests: [],
  };
  for (const [i, entry] of messages.entries()) {
    if (i % RUN === RUN - 1) await new Promise((resolve) => setImmediate(resolve));
    follow(course, entry);
  }
  return course;
}

function follow(course: Course, entry: Entry): void {
  const event = knownEvent(entry.kind, entry.metadata);
  if (entry.in_reply_to !== undefined || (event !== undefined && SETTLING.has(event))) {
    course.requests = course.requests.filter((request) => !answers(entry, event, request));
  }
  if (event === undefined) return;
  collectWork(course, entry);
  if (event === 'finding_reported') {
    course.reported++;
    const { severity } = entry.metadata ?? {};
    if (typeof severity === 'string')
      course.reportedBySeverity.set(severity, (course.reportedBySeverity.get(severity) ?? 0) + 1);
  }
  if (event === 're_review_requested') {
    course.requests.push(entry);
    if (course.requests.length > MAX_REQUESTS) course.requests.shift();
  }
  if (event === 'finding_verified') course.verified++;
  if (event === 'finding_rejected') course.rejected++;
}

function collectWork(course: Course, { metadata = {} }: Entry): void {
  const { commit, file, files } = metadata;
  if (typeof commit === 'string' && commit !== '') course.commits.add(commit);
  for (const name of [file, ...(Array.isArray(files) ? files : [])])
    if (typeof name === 'string') course.files.add(name);
}

/** The events that can answer requests they do not reply to. */
const SETTLING: ReadonlySet<EventType> = new Set(['finding_verified', 'finding_rejected', 'thread_resolved']);

/** A request is answered by a reply of someone else, or by someone else's verdict on what it asked for. */
function answers(entry: Entry, event: EventType | undefined, request: Entry): boolean {
  if (entry.sender_agent_id === request.sender_agent_id) return false;
  if (entry.in_reply_to === request.message_id) return true;
  if (event === 'thread_resolved') return true;
  if (event !== 'finding_verified' && event !== 'finding_rejected') return false;
  return agrees(request, entry, 'finding_id') && agrees(request, entry, 'task_id');
}

function agrees(request: Entry, answer: Entry, key: string): boolean {
  const asked = request.metadata?.[key];
  const answered = answer.metadata?.[key];
  return asked === undefined || answered === undefined || asked === answered;
}

function describe(
  state: ThreadState,
  messages: readonly Entry[],
  course: Course,
  open: readonly OpenItem[],
): string {
  const lines = [
    `“${state.title}” (${state.type}) is ${state.status}; ${count(messages.length, 'message')} read of ${state.last_seq}.`,
  ];
  const reported: string[] = [];
  if (course.reported > 0)
    reported.push(`${count(course.reported, 'finding')} reported${severities(course.reportedBySeverity)}`);
  if (course.verified > 0) reported.push(`${course.verified} verified`);
  if (course.rejected > 0) reported.push(`${course.rejected} rejected`);
  if (reported.length > 0) lines.push(`${reported.join(', ')}.`);
  if (course.commits.size > 0) lines.push(`Commits: ${shortList([...course.commits])}.`);
  if (course.files.size > 0) lines.push(`Files: ${shortList([...course.files])}.`);
  lines.push(
    open.length === 0
      ? 'Nothing is open.'
      : `Open: ${shortList(
          open.map((item) => `${item.text} (${item.by}, #${item.seq})`),
          '; ',
        )}.`,
  );
  const disputed = state.findings.filter((finding) => finding.rejected).length;
  if (disputed > 0) lines.push(`${count(disputed, 'finding')} rejected but not settled with the reporter.`);
  const last = messages.at(-1);
  if (last !== undefined)
    lines.push(
      `Last heard: ${last.sender_agent_id} at ${last.created_at}: ${excerpt(plainWords(last.body))}`,
    );
  return lines.join(' ');
}

function severities(counts: ReadonlyMap<string, number>): string {
  return counts.size === 0 ? '' : ` (${shortList([...counts].map(([name, n]) => `${n} ${name}`))})`;
}

function shortList(items: readonly string[], separator = ', '): string {
  const shown = items.slice(0, 10);
  return (
    shown.join(separator) + (items.length > shown.length ? ` and ${items.length - shown.length} more` : '')
  );
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

function findingItem(finding: Finding): OpenItem {
  const { message_id, seq, by, text, severity, file, line, task_id } = finding;
  return {
    kind: 'finding',
    message_id,
    seq,
    by,
    text: plainWords(text),
    ...(severity === undefined ? {} : { severity }),
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
    ...(task_id === undefined ? {} : { task_id }),
  };
}

function requestItem(entry: Entry): OpenItem {
  return { ...findingItem(toFinding(entry)), kind: 'request', text: excerpt(plainWords(entry.body)) };
}
