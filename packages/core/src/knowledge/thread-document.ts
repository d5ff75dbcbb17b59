import { knownEvent } from '@parley/protocol';

import type { Entry } from '../entry.ts';
import { excerpt, type Finding, findTarget, toFinding } from '../threads/findings.ts';
import type { ThreadState } from '../threads/state.ts';

/** More of a kind than that is counted and not told. */
const MAX_TOLD = 200;

/** A finding and what became of it, in the order of the log. */
interface Story {
  finding: Finding;
  entry: Entry;
  later: Entry[];
}

/** The newest of a kind, and how many came before them. */
interface Newest<T> {
  items: T[];
  before: number;
}

/** What a thread came to, gathered entry by entry. */
interface Gathered {
  stories: Newest<Story>;
  work: Newest<Entry>;
  course: Newest<Entry>;
  said: Newest<Entry>;
}

/** A thread as a document: every statement names the entry it rests on, and nothing stands there that no entry says. */
export interface ThreadDocument {
  add(entries: readonly Entry[]): void;
  /** The text, and how many entries it cites. */
  write(state: ThreadState): { body: string; cited: number };
}

/** Begins such a document; entries come in the order of the log. */
export function createThreadDocument(): ThreadDocument {
  const none = () => ({ items: [], before: 0 });
  const gathered: Gathered = { stories: none(), work: none(), course: none(), said: none() };
  return {
    add(entries) {
      for (const entry of entries) gather(gathered, entry);
    },
    write: (state) => write(gathered, state),
  };
}

const WORK: ReadonlySet<Entry['type']> = new Set(['task', 'result']);
const COURSE: ReadonlySet<Entry['type']> = new Set(['thread.status', 'side.closed']);

function gather({ stories, work, course, said }: Gathered, entry: Entry): void {
  if (WORK.has(entry.type)) keep(work, entry);
  else if (COURSE.has(entry.type)) keep(course, entry);
  else if (entry.type === 'message') {
    const event = knownEvent(entry.kind, entry.metadata);
    if (event === 'finding_reported') keep(stories, { finding: toFinding(entry), entry, later: [] });
    else if (event === undefined) keep(said, entry);
    else if (event === 'thread_escalated' || event === 'thread_resolved') keep(course, entry);
    else {
      const findings = stories.items.map(({ finding }) => finding);
      const target = findTarget(findings, entry);
      const story = stories.items.find(({ finding }) => finding === target);
      if (story === undefined) keep(work, entry);
      else story.later.push(entry);
    }
  }
}

function keep<T>(newest: Newest<T>, item: T): void {
  newest.items.push(item);
  if (newest.items.length <= MAX_TOLD) return;
  newest.items.shift();
  newest.before += 1;
}

function write(gathered: Gathered, state: ThreadState): { body: string; cited: number } {
  const cited = new Map<number, Entry>();
  const cite = (entry: Entry): string => {
    cited.set(entry.seq, entry);
    return `[#${entry.seq}](/t/${state.thread_id}/${entry.seq})`;
  };
  const sections = [
    section('Findings', gathered.stories, (story) => tellStory(story, cite)),
    section('Work', gathered.work, (entry) => `${tellWork(entry)} ${cite(entry)}`),
    section('Course', gathered.course, (entry) => `${name(entry)}: ${words(entry.body)} ${cite(entry)}`),
    section('What was said', gathered.said, (entry) => `${name(entry)}: ${words(entry.body)} ${cite(entry)}`),
  ];
  const sources = [...cited.values()].toSorted((a, b) => a.seq - b.seq);
  const head = [
    `# ${words(state.title)}`,
    `From the ${state.type} thread \`${state.thread_id}\`, ${state.status}, with ${state.participants.map(words).join(', ')}. Each statement ends with the entry it rests on.`,
  ];
  const list = sources.map(
    (entry) => `- #${entry.seq} \`${entry.message_id}\` ${name(entry)}, ${entry.created_at}`,
  );
  const body = [...head, ...sections.flat(), ...(list.length > 0 ? ['## Sources', list.join('\n')] : [])];
  return { body: `${body.join('\n\n')}\n`, cited: sources.length };
}

function section<T>(title: string, { items, before }: Newest<T>, tell: (item: T) => string): string[] {
  if (items.length === 0) return [];
  const reported = items.map((item) => `- ${tell(item)}`);
  return [
    `## ${title}`,
    ...(before > 0 ? [`${before} earlier ones are left out.`] : []),
    reported.join('\n'),
  ];
}

function tellStory({ finding, entry, later }: Story, cite: (entry: Entry) => string): string {
  const { severity, file, line } = finding;
  const place = file === undefined ? '' : ` (${words(line === undefined ? file : `${file}:${line}`)})`;
  const grave = severity === undefined ? '' : `**${words(severity)}** `;
  const fate = later.map((one) => ` ${tellWork(one)} ${cite(one)}`);
  return `${grave}${words(entry.body)}${place}, reported by ${name(entry)} ${cite(entry)}.${fate.join('')}${later.length === 0 ? ' Nothing more was said of it.' : ''}`;
}

const DEEDS: Record<string, string> = {
  fix_pushed: 'Fixed by',
  re_review_requested: 'Another review asked for by',
  finding_verified: 'Verified by',
  finding_rejected: 'Rejected by',
};

function tellWork(entry: Entry): string {
  const event = knownEvent(entry.kind, entry.metadata);
  const deed = event === undefined ? (entry.type === 'result' ? 'Result of' : 'Task of') : DEEDS[event];
  const { commit } = entry.metadata ?? {};
  const where = typeof commit === 'string' && commit !== '' ? ` in ${words(commit)}` : '';
  return `${deed ?? ''} ${name(entry)}${where}: ${words(entry.body)}`;
}

const name = (entry: Entry): string => words(entry.sender_agent_id);

/** The first words of what somebody wrote, as plain words: no markup, no link, no heading of theirs. */
function words(text: string): string {
  return excerpt(text).replaceAll(/[\\`*_[\]<>#|~]/g, '\\$&');
}
