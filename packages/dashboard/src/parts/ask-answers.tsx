import type { Ask, AskAnswer } from '@parley/protocol';

import { answer, maySteer } from '../data/actions.ts';
import type { AskRow } from '../data/state.ts';
import { Icon } from './icon.tsx';
import { later } from './later.tsx';

const HoldButton = later(async () => (await import('./risk.ts')).HoldButton, null);

type Option = NonNullable<Ask['options']>[number];

interface AnswersProps {
  row: AskRow;
  onMore: () => void;
  onAnswerInThread: (() => void) | undefined;
}

/** The buttons under a request: the agent's own options where it has some, else a plain yes and no. */
export function AskAnswers({ row, onMore, onAnswerInThread }: AnswersProps) {
  const { ask, sending = false } = row;
  if (!maySteer())
    return (
      <div class="ask-actions">
        <span class="meta">This device may only look.</span>
      </div>
    );
  const say = (verdict: AskAnswer) => () => void answer(ask.ask_id, verdict);
  const approval = ask.kind === 'approval' || ask.kind === 'budget';
  const choices = (ask.options ?? []).filter(({ kind }) => kind === 'choice').slice(0, 4);
  return (
    <div class="ask-actions" aria-busy={sending}>
      {approval ? (
        <>
          {ask.risk === 'high' && ask.needs_passkey !== true ? (
            <HoldButton look="button-primary" disabled={sending} onHeld={say(yes(ask))}>
              <Icon name="check" /> {sending ? 'Sending' : 'Hold to approve'}
            </HoldButton>
          ) : (
            <button
              type="button"
              class="button-primary"
              disabled={sending}
              data-key="y"
              onClick={say(yes(ask))}
            >
              <Icon name={ask.needs_passkey === true ? 'key' : 'check'} /> {sending ? 'Sending' : wordOf(ask)}
            </button>
          )}
          <button type="button" class="button-danger" disabled={sending} data-key="d" onClick={say(no(ask))}>
            <Icon name="cross" /> Deny
          </button>
        </>
      ) : (
        choices.map((option) => (
          <button
            key={option.id}
            type="button"
            class="button"
            disabled={sending}
            onClick={say(chosen(option))}
          >
            {option.label}
          </button>
        ))
      )}
      {!approval && choices.length === 0 ? (
        <button
          type="button"
          class="button-primary"
          disabled={sending}
          data-key="y"
          onClick={ask.kind === 'elicitation' ? onMore : (onAnswerInThread ?? onMore)}
        >
          <Icon name="reply" /> {ask.kind === 'elicitation' ? 'Fill in' : 'Answer'}
        </button>
      ) : null}
      <button
        type="button"
        class="button-quiet icon-button"
        disabled={sending}
        aria-label="More ways to answer"
        onClick={onMore}
      >
        <Icon name="more" />
      </button>
    </div>
  );
}

/** What the button says that approves. */
function wordOf({ needs_passkey }: Ask): string {
  return needs_passkey === true ? 'Approve with passkey' : 'Approve once';
}

/** A yes, in the agent's own words where it has some. */
export function yes(ask: Ask, scope: 'once' | 'session' | 'rule' = 'once'): AskAnswer {
  const option = ask.options?.find(({ kind }) => kind === `allow_${scope}`);
  return { decision: 'approved', scope, ...(option === undefined ? {} : { option: option.id }) };
}

/** A no, with the reason if there is one. */
export function no(ask: Ask, reason = ''): AskAnswer {
  const option = ask.options?.find(({ kind }) => kind === 'deny');
  return {
    decision: 'denied',
    ...(option === undefined ? {} : { option: option.id }),
    ...(reason === '' ? {} : { reason }),
  };
}

/** One of the agent's own options. */
export function chosen({ id, kind }: Option): AskAnswer {
  if (kind === 'deny') return { decision: 'denied', option: id };
  if (kind === 'choice') return { decision: 'answered', option: id };
  // What is left of the kinds allows, for as long as its name says.
  return { decision: 'approved', option: id, scope: kind.slice('allow_'.length) as 'once' };
}
