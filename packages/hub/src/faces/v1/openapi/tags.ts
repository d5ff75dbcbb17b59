import { CONTRACT_GROUPS, entriesOf, type OperationName } from '@parley/protocol';

/** The groups in which a reader finds the operations. */
export const TAGS = {
  threads: 'Conversations, workflows and incidents, and what is said in them.',
  participation: 'Who takes part in a thread and how: controls, presence, tasks, side channels.',
  agents: 'Who is there, how each stands, and commands to them.',
  waking: 'Sessions, and calling those who are not listening.',
  asks: 'What an agent needs of a person.',
  documents: 'The tree of documents, its history, and search by words and meaning.',
  artifacts: 'Files, by signed URLs.',
  services: 'Services outside: their health, the queue of envelopes, service levels.',
  desk: 'Devices, channels, rules and the log, for the person in charge.',
  streams: 'What happens, as it happens: server-sent events and the live channel.',
  envelope: 'Envelope v2.2 for services.',
  hub: 'The hub itself.',
} as const;
export type Tag = keyof typeof TAGS;

/** The group of an operation: the one in which its contract stands. */
export function tagOf(name: OperationName): Tag {
  for (const [tag, group] of entriesOf(CONTRACT_GROUPS)) if (Object.hasOwn(group, name)) return tag;
  throw new Error(`${name} stands in no group of contracts`);
}
