import type { Command, ThreadChange } from '../commands.ts';
import { append, draft, type Draft } from '../draft.ts';
import type { Entry } from '../entry.ts';
import type { Located } from '../threads/access.ts';
import { evolve } from '../threads/state.ts';

type Head = Pick<Command, 'caller' | 'now' | 'salt' | 'trace'> & { thread_id: string };

/** One more entry in an agent's journal, which is made with its first. */
export function journalEntry(
  located: Located,
  agent: string,
  command: Head,
  content: Draft,
): { entry: Entry; change: ThreadChange } {
  return standingEntry(located, command, `journal of ${agent}`, { journal_of: agent }, content);
}

/** One more entry in a thread that nobody has to make: its first entry does. */
export function standingEntry(
  located: Located,
  command: Head,
  title: string,
  marks: { journal_of: string } | { tree: true },
  content: Draft,
): { entry: Entry; change: ThreadChange } {
  if (located.thread !== undefined) return append(located.thread, command, content);
  const { workspace_id } = command.caller;
  const created = draft(undefined, command.thread_id, command, {
    type: 'thread.created',
    kind: 'system',
    body: title,
    metadata: { workspace_id, title, type: 'conversation', participants: [], ...marks },
  });
  const { entry, change } = append(evolve(undefined, created), command, content);
  return { entry, change: { entries: [created, entry], thread: change.thread } };
}
