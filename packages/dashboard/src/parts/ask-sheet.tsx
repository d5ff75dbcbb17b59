import { type Ask, type AskAnswer, showUnseen } from '@parley/protocol';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { allow } from '../data/actions.ts';
import { wishOf } from '../words.ts';
import { AskForm, fieldsOf } from './ask-form.tsx';
import { chosen, no, yes } from './ask-answers.tsx';
import { Exact } from './exact.tsx';
import { HoldButton } from './hold-button.tsx';
import { RiskLine } from './risk-line.tsx';
import { Sheet } from './sheet.tsx';

/** All ways to answer a request: more widely, by the agent's own options, in words, or with a reason against it. */
export function AskSheet({
  ask,
  onClose,
  onAnswer,
}: {
  ask: Ask;
  onClose: () => void;
  onAnswer: (verdict: AskAnswer) => void;
}) {
  const [reason, write] = useState('');
  const [pattern, shape] = useState<string | undefined>();
  const approval = ask.kind === 'approval' || ask.kind === 'budget';
  const scoped = new Set<string>(['allow_once', 'allow_session', 'deny']);
  const own = (ask.options ?? []).filter(({ kind }) => !(approval && scoped.has(kind)));
  return (
    <Sheet title={`${ask.agent_id} ${wishOf(ask)}`} onClose={onClose}>
      {ask.command === undefined ? (
        <p class="ask-prompt">{showUnseen(ask.prompt)}</p>
      ) : (
        <pre class="command">
          <Exact text={ask.command} />
        </pre>
      )}
      <RiskLine ask={ask} />
      <div class="choices">
        {approval ? (
          <>
            <Allowing ask={ask} verdict={yes(ask)} onAnswer={onAnswer} words="once">
              This time only
            </Allowing>
            <Allowing ask={ask} verdict={yes(ask, 'session')} onAnswer={onAnswer} words="for this session">
              {ask.agent_id} does not ask for the like again until its session ends
            </Allowing>
          </>
        ) : null}
        {approval && ask.command !== undefined && ask.risk !== 'high' && pattern === undefined ? (
          <button type="button" class="choice" onClick={() => shape(ask.command)}>
            <strong>Always approve such commands</strong>
            <span>You choose which. The rule is listed under System, where you can revoke it</span>
          </button>
        ) : null}
        {own.map((option) => (
          <OwnOption key={option.id} ask={ask} option={option} onAnswer={onAnswer} />
        ))}
      </div>
      {pattern === undefined ? null : (
        <form
          class="reason"
          onSubmit={(event) => {
            event.preventDefault();
            void allow(ask, pattern.trim()).then((done) => (done ? onAnswer(yes(ask)) : undefined));
          }}
        >
          <label class="field">
            <span>Commands (* stands for any harmless words)</span>
            <input
              class="mono"
              required
              value={pattern}
              onInput={(event) => shape(event.currentTarget.value)}
            />
          </label>
          <p class="meta">
            Of {ask.agent_id}
            {ask.cwd === undefined ? '' : ` in ${ask.cwd}`}. You are still asked about anything of high risk.
          </p>
          <button type="submit" class="button-primary button-wide">
            Approve now and from now on
          </button>
        </form>
      )}
      {ask.schema !== undefined && fieldsOf(ask.schema) !== undefined && !approval ? (
        <AskForm schema={ask.schema} onAnswer={onAnswer} />
      ) : (
        <form
          class="reason"
          onSubmit={(event) => {
            event.preventDefault();
            if (approval) onAnswer(no(ask, reason.trim()));
            else if (reason.trim() !== '') onAnswer({ decision: 'answered', text: reason.trim() });
          }}
        >
          <label class="field">
            <span>{approval ? 'Tell it why not' : 'Answer in your own words'}</span>
            <textarea
              rows={2}
              value={reason}
              maxLength={1_500}
              onInput={(event) => write(event.currentTarget.value)}
            />
          </label>
          <div class="reason-buttons">
            <button
              type="submit"
              class={approval ? 'button-danger' : 'button-primary'}
              disabled={!approval && reason.trim() === ''}
            >
              {approval ? (reason.trim() === '' ? 'Deny' : 'Deny and say why') : 'Send answer'}
            </button>
            {approval ? null : (
              <button type="button" class="button-danger" onClick={() => onAnswer(no(ask, reason.trim()))}>
                Decline
              </button>
            )}
          </div>
        </form>
      )}
    </Sheet>
  );
}

interface Choosing {
  ask: Ask;
  onAnswer: (verdict: AskAnswer) => void;
}

/** What is of high risk is held, unless the person's device asks for a finger or a PIN all the same. */
function isToHold({ risk, needs_passkey }: Ask): boolean {
  return risk === 'high' && needs_passkey !== true;
}

/** A way to say yes; what is of high risk is held or signed, not tapped. */
function Allowing({
  ask,
  verdict,
  words,
  onAnswer,
  children,
}: Choosing & { verdict: AskAnswer; words: string; children: ComponentChildren }) {
  const isHeld = isToHold(ask);
  const by = ask.needs_passkey === true ? ' with passkey' : '';
  const text = (
    <>
      <strong>{isHeld ? `Hold to approve ${words}` : `Approve ${words}${by}`}</strong>
      <span>{children}</span>
    </>
  );
  if (isHeld)
    return (
      <HoldButton look="choice" onHeld={() => onAnswer(verdict)}>
        {text}
      </HoldButton>
    );
  return (
    <button type="button" class="choice" onClick={() => onAnswer(verdict)}>
      {text}
    </button>
  );
}

function OwnOption({ ask, option, onAnswer }: Choosing & { option: NonNullable<Ask['options']>[number] }) {
  const verdict = chosen(option);
  if (isToHold(ask) && verdict.decision === 'approved')
    return (
      <HoldButton look="choice" onHeld={() => onAnswer(verdict)}>
        <strong>Hold: {option.label}</strong>
      </HoldButton>
    );
  return (
    <button type="button" class="choice" onClick={() => onAnswer(verdict)}>
      <strong>{option.label}</strong>
    </button>
  );
}
