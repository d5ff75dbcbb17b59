import type { ThreadEvent } from '@parley/protocol';

import { Icon } from './icon.tsx';

/** Why somebody who is named was not called, in a few words; the sheet of the message says the rest. */
const WHY: Partial<Record<string, string>> = {
  discussion_off: 'discussion among agents is off',
  not_a_participant: 'not in this thread',
  muted: 'muted here',
  paused: 'the thread is paused',
  ended: 'the conversation is over',
  yourself: 'who wrote it',
};

/** Whom a message names in vain, or that it called nobody; most messages have no such line. */
export function CallLine({ event, calledNobody }: { event: ThreadEvent; calledNobody: boolean }) {
  const { not_called = [] } = event.meta;
  const lines = not_called.map(
    ({ agent, why }) => `${agent} was not called: ${WHY[why] ?? why.replaceAll('_', ' ')}`,
  );
  if (calledNobody && lines.length === 0)
    lines.push('Nobody was called. Write @ and a name to call somebody.');
  return lines.map((line) => (
    <p key={line} class="call-line">
      <Icon name="info" size={16} /> <span>{line}</span>
    </p>
  ));
}
