import { type OutputOf, type ThreadEvent, plainWords } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { maySteer } from '../data/actions.ts';
import { call, wordsOf } from '../data/api.ts';
import { whenTime, fullTime } from '../time.ts';
import { copy } from './code-line.tsx';
import { Icon } from './icon.tsx';
import { Sheet } from './sheet.tsx';

type Evidence = OutputOf<'get_message_evidence'>;

/** How a wake for the message went, and why not. */
function wokenWords({ agent_id, result, door, why, passed }: Evidence['woken'][number]): string {
  const plain = (word: string): string => word.replaceAll('_', ' ');
  const tried = passed.filter(({ reason }) => reason !== 'not_configured');
  const past = tried.map((one) => `${plain(one.door)}: ${plain(one.reason)}`).join('; ');
  const reason = [why === undefined ? '' : plain(why), past].filter((part) => part !== '').join('; ');
  const because = reason === '' ? '' : ` (${reason})`;
  if (result === 'delivered') return `${agent_id} was woken${door === undefined ? '' : ` by ${plain(door)}`}`;
  if (result === 'skipped' || result === 'failed') return `${agent_id} was not woken${because}`;
  return `${agent_id} is being woken: ${plain(result)}${because}`;
}

const WAYS: Record<string, string> = {
  read: 'fetched',
  wait: 'waited for',
  sse: 'streamed',
  ws: 'streamed',
  mcp: 'announced',
};

/** What can be done with a message, and what became of it: who was given it, who has read it, who acted on it. */
export function MessageSheet({
  event,
  onClose,
  onReply,
}: {
  event: ThreadEvent;
  onClose: () => void;
  onReply: () => void;
}) {
  const [evidence, set] = useState<Evidence | undefined>();
  const [failed, fail] = useState<string | undefined>();
  useEffect(() => {
    call('get_message_evidence', { thread_id: event.thread, message_id: `msg_${event.id ?? ''}` }).then(
      set,
      (error: unknown) => fail(wordsOf(error)),
    );
  }, [event]);
  return (
    <Sheet title={`Message ${event.meta.seq ?? ''} of ${event.from}`} onClose={onClose}>
      <div class="button-row">
        {maySteer() ? (
          <button type="button" class="button-primary" onClick={onReply}>
            <Icon name="reply" /> Reply
          </button>
        ) : null}
        <button
          type="button"
          class="button"
          onClick={() => void copy(`${location.origin}/t/${event.thread}/${event.meta.seq ?? 0}`)}
        >
          <Icon name="copy" /> Copy link
        </button>
        <button
          type="button"
          class="button"
          onClick={() =>
            void copy(typeof event.content === 'string' ? event.content : JSON.stringify(event.content))
          }
        >
          <Icon name="copy" /> Copy text
        </button>
      </div>
      <h3 class="sheet-sub">What became of it</h3>
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      {evidence === undefined ? (
        <div class="skeleton" />
      ) : (
        <ol class="evidence">
          <li class="step-done">
            Accepted from {evidence.accepted.by} at {fullTime(evidence.accepted.at)}
          </li>
          <li class="step-done">Durable as entry {evidence.durable.seq}</li>
          {evidence.called.length === 0 ? null : (
            <li class="step-done">Calls {evidence.called.join(', ')}</li>
          )}
          {evidence.not_called.map(({ agent, hint }) => (
            <li key={`call ${agent}`}>
              {agent} was not called: {plainWords(hint)}
            </li>
          ))}
          {evidence.offered.map(({ agent_id, how, by }) => (
            <li key={`${agent_id} ${how}`} class="step-done">
              {agent_id}: {WAYS[how] ?? how} by {whenTime(by)}
            </li>
          ))}
          {evidence.woken.map((wake) => (
            <li key={wake.trigger_id} class={wake.result === 'delivered' ? 'step-done' : ''}>
              {wokenWords(wake)} at {whenTime(wake.at)}
            </li>
          ))}
          {evidence.not_woken.map(({ agent, hint }) => (
            <li key={`wake ${agent}`}>
              {agent} was not woken: {plainWords(hint)}
            </li>
          ))}
          {evidence.read.map(({ agent_id, at }) => (
            <li key={agent_id} class="step-done">
              Read by {agent_id} at {whenTime(at)}
            </li>
          ))}
          {evidence.acted.map(({ message_id, agent_id, what, seq }) => (
            <li key={message_id} class="step-done">
              <a href={`/t/${event.thread}/${seq}`}>
                {agent_id}: {what.replaceAll('_', ' ')}
              </a>
            </li>
          ))}
          {evidence.unread.length === 0 ? null : <li>Not read by {evidence.unread.join(', ')}</li>}
        </ol>
      )}
    </Sheet>
  );
}
