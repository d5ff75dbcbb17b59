import type { ThreadEvent } from '@parley/protocol';

import { type LadderStep, stepWords } from './wake-ladder.tsx';
import { describe, plain, THREAD_WORDS, type EventText, type Words } from './system-words.ts';

interface DeliveryTold {
  action: string;
  error?: { message: string };
}

interface PasskeyTold {
  what: 'code' | 'added' | 'removed';
  name?: string;
  person?: string;
}

/** What became of a passkey. */
const PASSKEY_STEPS: Record<PasskeyTold['what'], (name: string, person: string) => string> = {
  code: (_name, person) => `gave out a code with which ${person} may add a passkey`,
  added: (name) => `added the passkey ${name}`,
  removed: (name, person) => `removed the passkey ${name} of ${person}`,
};

interface DocumentEvent {
  document: { document_id: string; revision: number; metadata: { title: string } };
}

function aboutDocument(who: string, did: string, { document }: DocumentEvent): EventText {
  const { document_id, revision, metadata } = document;
  return {
    ...plain('page', `${who} ${did} ${metadata.title} (revision ${revision})`),
    document: document_id,
  };
}

interface CommandTold {
  command: string;
  parameters?: { audit?: { reason?: unknown } };
}

/** What somebody did who sent one of the commands that sessions know. */
const COMMANDS: Readonly<Record<string, string>> = {
  prompt: 'prompted it',
  cancel: 'interrupted it',
  stop: 'stopped it',
  terminal_watch: 'looked at its screen',
  terminal_screen: 'looked at its screen',
  terminal_lock: 'took over its terminal',
  terminal_type: 'typed into its terminal',
};

/** What an entry of a journal or of the tree says, beside those of conversations. */
const WORDS: Readonly<Record<string, Words>> = {
  ...THREAD_WORDS,
  'document.created': (who, reported: DocumentEvent) => aboutDocument(who, 'wrote', reported),
  'document.updated': (who, reported: DocumentEvent) => aboutDocument(who, 'changed', reported),
  'document.moved': (who, reported: DocumentEvent) => aboutDocument(who, 'moved', reported),
  'document.deleted': (who, reported: DocumentEvent) => aboutDocument(who, 'deleted', reported),
  'document.restored': (who, reported: DocumentEvent) => aboutDocument(who, 'restored', reported),
  'document.reverted': (who, reported: DocumentEvent) =>
    aboutDocument(who, 'brought back an older', reported),
  'agent.registered': (who) => plain('agents', `${who} registered`),
  'agent.command': (who, { command, parameters }: CommandTold) => {
    const did = COMMANDS[command] ?? `sent the command ${command}`;
    const why = parameters?.audit?.reason;
    return plain('bolt', `${who} ${did}${typeof why === 'string' ? `: ${why}` : ''}`);
  },
  'agent.response': (who, { success }: { success: boolean }) => ({
    icon: success ? 'check' : 'cross',
    text: `${who} ${success ? 'has done it' : 'could not do it'}`,
    tone: success ? 'good' : 'bad',
  }),
  'agent.forgotten': (who, { of_agent }: { of_agent: string }) =>
    plain('agents', `${who} took ${of_agent} off the list`),
  'agent.error_dismissed': (who) => plain('check', `${who} dismissed its error`),
  'agent.wake': (_who, step: LadderStep) => plain('bell', `Wake: ${stepWords(step)}`),
  'agent.quiet': (who, { quiet, of_agent }: { quiet: boolean; of_agent: string | null }) => {
    const whom = of_agent ?? 'everybody';
    return quiet
      ? plain('mute', `${who} left ${whom} alone`)
      : plain('bell', `${who} let ${whom} be woken again`);
  },
  'agent.approval_rule': aboutRule,
  'agent.leave': aboutRule,
  'agent.passkey': (who, { what, name = '', person = who }: PasskeyTold) =>
    plain('key', `${who} ${PASSKEY_STEPS[what](name, person)}`),
  'delivery.dead': (_who, { action, error }: DeliveryTold) => ({
    icon: 'warn',
    text: `${action} was given up${error === undefined ? '' : `: ${error.message}`}`,
    tone: 'bad',
  }),
  'delivery.redriven': (who, { action }: DeliveryTold) => plain('play', `${who} retried ${action}`),
  'artifact.created': (who, { name }: { name: string }) => plain('page', `${who} kept the file ${name}`),
  'tree.ordered': (who) => plain('page', `${who} put documents in order`),
  'tree.purged': () => plain('page', 'Documents deleted long ago were purged'),
};

/** Any entry that nobody spoke, in words. */
export function describeAny(entry: ThreadEvent, self: string): EventText {
  return describe(entry, self, WORDS);
}

function aboutRule(who: string, { what, command }: { what: string; command: string }): EventText {
  return plain(
    'check',
    what === 'given'
      ? `${who} approved from now on: ${command}`
      : `${who} took back the approval of ${command}`,
  );
}
