import { type ThreadEvent, fieldsOf } from '@parley/protocol';

import type { IconName } from './icon.tsx';

/** An entry in a line. */
export interface EventText {
  icon: IconName;
  text: string;
  tone: 'plain' | 'needs' | 'good' | 'bad';
  askId?: string;
  side?: string;
  document?: string;
}

/** How one verb is put into words. */
export type Words = (who: string, reported: never) => EventText;

/** A line about something that needs nobody. */
export const plain = (icon: IconName, text: string): EventText => ({ icon, text, tone: 'plain' });

interface AskTold {
  ask_id: string;
  ask?: { prompt: string; command?: string };
  verdict?: { decision: string; by: string; reason?: string };
}

/** What each entry of a conversation that nobody spoke says in a line, by its verb. */
export const THREAD_WORDS: Readonly<Record<string, Words>> = {
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

/** An entry that nobody spoke, in the words there are for its verb. */
export function describe(
  { type, from, content }: ThreadEvent,
  self: string,
  wordsByVerb = THREAD_WORDS,
): EventText {
  const who = from === self ? 'You' : from;
  if (type === 'presence') {
    const { transition } = fieldsOf(content);
    return plain('info', `${who}: ${typeof transition === 'string' ? transition : 'present'}`);
  }
  const [[verb, reported] = ['', undefined]] = Object.entries<unknown>(fieldsOf(content));
  const words = wordsByVerb[verb];
  return words === undefined
    ? plain('info', `${who}: ${verb.replaceAll(/[._]/g, ' ')}`)
    : // Each verb has its own words for what it tells.
      words(who, reported as never);
}

function spanOf(seconds: number): string {
  const [size, unit] = seconds % 3_600 === 0 ? [3_600, 'h'] : seconds % 60 === 0 ? [60, 'min'] : [1, 's'];
  return `${seconds / size} ${unit}`;
}
