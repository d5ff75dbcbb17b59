import { type ThreadEvent, fieldsOf } from '@parley/protocol';

import type { IconName } from './icon.tsx';

interface Told {
  icon: IconName;
  text: string;
  tone: 'plain' | 'needs' | 'good' | 'bad';
  askId?: string;
  side?: string;
  document?: string;
}

type Words = (who: string, reported: never) => Told;

const plain = (icon: IconName, text: string): Told => ({ icon, text, tone: 'plain' });

interface AskTold {
  ask_id: string;
  ask?: { prompt: string; command?: string };
  verdict?: { decision: string; by: string; reason?: string };
}

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

interface DocumentTold {
  document: { document_id: string; revision: number; metadata: { title: string } };
}

function aboutDocument(who: string, did: string, { document }: DocumentTold): Told {
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

/** What each entry that nobody spoke says in a line, by its verb. */
const WORDS: Record<string, Words> = {
  'thread.created': (who, { journal_of }: { journal_of?: string }) =>
    plain(
      'threads',
      journal_of === undefined ? `${who} started the thread` : `The journal of ${journal_of} begins`,
    ),
  'thread.status': (who, { to, reason }: { to: string; reason?: string }) => ({
    icon: to === 'resolved' || to === 'closed' ? 'check' : to === 'blocked' ? 'warn' : 'play',
    text: `${who} set the thread ${to}${reason === undefined || reason === '' ? '' : `: ${reason.replaceAll('_', ' ')}`}`,
    tone: to === 'blocked' ? 'bad' : to === 'resolved' ? 'good' : 'plain',
  }),
  'thread.renamed': (who, { title }: { title: string }) =>
    plain('info', `${who} renamed the thread to ${title}`),
  'side.opened': (who, { side_id }: { side_id: string }) => ({
    ...plain('side', `${who} opened a side channel`),
    side: side_id,
  }),
  'side.closed': (who, { summary, side_id }: { summary?: string; side_id: string }) => ({
    ...plain('side', `${who} closed a side channel${summary === undefined ? '' : `: ${summary}`}`),
    side: side_id,
  }),
  'ask.raised': (who, { ask_id, ask }: AskTold) => ({
    icon: 'bell',
    text:
      ask?.command === undefined ? `${who} asks: ${ask?.prompt ?? ''}` : `${who} asks to run ${ask.command}`,
    tone: 'needs',
    askId: ask_id,
  }),
  'ask.answered': (who, { verdict }: AskTold) => ({
    icon: verdict?.decision === 'denied' ? 'cross' : 'check',
    text: `${who} ${verdict?.decision ?? 'answered'} it${verdict?.reason === undefined ? '' : `: ${verdict.reason}`}`,
    tone: verdict?.decision === 'denied' ? 'bad' : 'good',
  }),
  'ask.resolved': (who, { verdict }: AskTold) =>
    verdict?.by === 'parley'
      ? { icon: 'cross', text: 'Nobody answered in time: denied', tone: 'bad' }
      : plain(
          'info',
          verdict?.decision === 'withdrawn' ? `${who} no longer needs an answer` : `${who} has the answer`,
        ),
  'document.created': (who, reported: DocumentTold) => aboutDocument(who, 'wrote', reported),
  'document.updated': (who, reported: DocumentTold) => aboutDocument(who, 'changed', reported),
  'document.moved': (who, reported: DocumentTold) => aboutDocument(who, 'moved', reported),
  'document.deleted': (who, reported: DocumentTold) => aboutDocument(who, 'deleted', reported),
  'document.restored': (who, reported: DocumentTold) => aboutDocument(who, 'restored', reported),
  'document.reverted': (who, reported: DocumentTold) => aboutDocument(who, 'brought back an older', reported),
  'agent.registered': (who) => plain('agents', `${who} registered`),
  'agent.command': (who, { command, parameters }: CommandTold) => {
    const did = COMMANDS[command] ?? `sent the command ${command}`;
    const why = parameters?.audit?.reason;
    return plain('bolt', `${who} ${did}${typeof why === 'string' ? `: ${why}` : ''}`);
  },
  'agent.response': (who, { success }: { success: boolean }) => ({
    icon: success ? 'check' : 'cross',
    text: `${who} ${success ? 'did it' : 'could not do it'}`,
    tone: success ? 'good' : 'bad',
  }),
  'agent.forgotten': (who, { of_agent }: { of_agent: string }) =>
    plain('agents', `${who} took ${of_agent} off the list`),
  'agent.error_dismissed': (who) => plain('check', `${who} dismissed its error`),
  'agent.wake': (who, { step = 'step', door }: { step?: string; door?: string }) =>
    plain('bell', `${who}: wake ${[step, door].filter(Boolean).join(', ').replaceAll('_', ' ')}`),
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
  'delivery.redriven': (who, { action }: DeliveryTold) => plain('play', `${who} sent ${action} round again`),
  'artifact.created': (who, { name }: { name: string }) => plain('page', `${who} kept the file ${name}`),
  'tree.ordered': (who) => plain('page', `${who} put documents in order`),
  'tree.purged': () => plain('page', 'Documents deleted long ago were purged'),
  mute: (who, { targets, for_seconds }: { targets: string[]; for_seconds?: number }) =>
    plain(
      'mute',
      `${who} muted ${targets.join(', ')}${for_seconds === undefined ? '' : ` for ${spanOf(for_seconds)}`}`,
    ),
  unmute: (who, { targets }: { targets: string[] }) =>
    plain('unmute', `${who} let ${targets.join(', ')} speak again`),
  pause: (who, { on }: { on: boolean }) =>
    plain(on ? 'pause' : 'play', on ? `${who} paused the thread` : `${who} let the thread go on`),
  prod: (who, targets: string[]) => plain('bolt', `${who} prodded ${targets.join(', ')}`),
  invite: (who, { participant_id }: { participant_id: string }) =>
    plain('people', `${who} invited ${participant_id}`),
  done: (who, on: boolean) =>
    plain('check', on ? `${who} declared the thread done` : `${who} took the thread up again`),
};

/** An entry that nobody spoke, in words. */
export function describe({ type, from, content }: ThreadEvent, self: string): Told {
  const who = from === self ? 'You' : from;
  if (type === 'presence') {
    const { transition } = fieldsOf(content);
    return plain('info', `${who}: ${typeof transition === 'string' ? transition : 'present'}`);
  }
  const [[verb, reported] = ['', undefined]] = Object.entries<unknown>(fieldsOf(content));
  const words = WORDS[verb];
  return words === undefined
    ? plain('info', `${who}: ${verb.replaceAll(/[._]/g, ' ')}`)
    : // Each verb has its own words for what it tells.
      words(who, reported as never);
}

function spanOf(seconds: number): string {
  const [size, unit] = seconds % 3_600 === 0 ? [3_600, 'h'] : seconds % 60 === 0 ? [60, 'min'] : [1, 's'];
  return `${seconds / size} ${unit}`;
}

function aboutRule(who: string, { what, command }: { what: string; command: string }): Told {
  return plain(
    'check',
    what === 'given'
      ? `${who} approved from now on: ${command}`
      : `${who} took back the approval of ${command}`,
  );
}
