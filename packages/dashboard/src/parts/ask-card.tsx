import { type Ask, showUnseen } from '@parley/protocol';
import { useState } from 'preact/hooks';

import { answer, maySteer } from '../data/actions.ts';
import { threadNamed } from '../data/replica.ts';
import { agentById, type AskRow, me } from '../data/state.ts';
import { agoWords, left } from '../time.ts';
import { folderOf, verdictOf, wishOf } from '../words.ts';
import { AskAnswers } from './ask-answers.tsx';
import { Avatar } from './avatar.tsx';
import { Exact } from './exact.tsx';
import { Icon } from './icon.tsx';
import { later } from './later.tsx';

const RiskLine = later(async () => (await import('./risk.ts')).RiskLine, null);
const AskSheet = later(async () => (await import('./ask-sheet.tsx')).AskSheet);

/** Something that an agent needs of a person, with all that a verdict depends on. */
export function AskCard({
  row,
  onAnswerInThread,
}: {
  row: AskRow;
  onAnswerInThread?: (() => void) | undefined;
}) {
  const { ask } = row;
  const [choosing, choose] = useState(false);
  const thread = threadNamed(ask.thread_id);
  const settled = ask.status !== 'open';
  const cwd = ask.cwd ?? folderOf(agentById.value.get(ask.agent_id) ?? NOBODY);
  return (
    <article
      class={`ask risk-${ask.risk}${settled ? ' ask-settled' : ''}`}
      tabIndex={0}
      data-row
      data-ask={ask.ask_id}
      aria-label={`${ask.agent_id} ${wishOf(ask)}`}
    >
      <header class="ask-head">
        <Avatar name={ask.agent_id} />
        <div class="ask-who">
          <h3>
            <a href={`/agents/${encodeURIComponent(ask.agent_id)}`}>{ask.agent_id}</a>{' '}
            <span class="ask-wish">{wishOf(ask)}</span>
          </h3>
          <p class="meta">
            {cwd === undefined ? null : <span class="mono">{cwd}</span>}
            <span>{agoWords(ask.created_at)}</span>
            {thread === undefined || thread.journal_of !== undefined ? null : (
              <a href={`/t/${ask.thread_id}`}>{thread.title}</a>
            )}
          </p>
        </div>
        {settled ? null : (
          <div class="ask-end">
            {ask.risk === 'high' ? <span class="tag tag-risk">High risk</span> : null}
            <TimeLeft ask={ask} />
          </div>
        )}
      </header>
      {ask.command === undefined ? null : (
        <pre class="command" tabIndex={0} aria-label="The exact command">
          <Exact text={ask.command} />
        </pre>
      )}
      {settled || ask.risk_hints === undefined ? null : <RiskLine ask={ask} />}
      <p class={ask.command === undefined ? 'ask-prompt' : 'ask-prompt ask-reason'}>
        {showUnseen(ask.prompt)}
      </p>
      {ask.rule === undefined ? null : (
        <p class="ask-rule">
          <Icon name="info" size={16} />
          <span>
            Asked because of the rule <span class="quoted">{ask.rule}</span>
          </span>
        </p>
      )}
      {row.failed === undefined ? null : (
        <p class="ask-failed" role="alert">
          <Icon name="warn" size={16} /> <span>{sentence(row.failed)} Nothing was decided.</span>
        </p>
      )}
      {ask.agent_gone_since === undefined || ask.status === 'resolved' ? null : (
        <p class="ask-gone" role="status">
          <Icon name="warn" size={16} /> The agent is gone; an answer reaches nobody.
        </p>
      )}
      {settled ? (
        <Verdict ask={ask} />
      ) : (
        <AskAnswers row={row} onMore={() => choose(true)} onAnswerInThread={onAnswerInThread} />
      )}
      {choosing && !settled ? (
        <AskSheet
          ask={ask}
          onClose={() => choose(false)}
          onAnswer={(verdict) => {
            choose(false);
            void answer(ask.ask_id, verdict);
          }}
        />
      ) : null}
    </article>
  );
}

/** Words of the hub as a sentence beside others. */
function sentence(words: string): string {
  const text = words.slice(0, 1).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

// Only its metadata is looked at.
const NOBODY = { metadata: {} } as Parameters<typeof folderOf>[0];

function Verdict({ ask }: { ask: Ask }) {
  const { verdict, status, options } = ask;
  if (verdict === undefined) return null;
  const good = verdict.decision === 'approved' || verdict.decision === 'answered';
  return (
    <p class={`verdict ${good ? 'verdict-good' : 'verdict-bad'}`} role="status">
      <Icon name={good ? 'check' : 'cross'} />
      <span>
        {verdictOf(verdict, options, me.value?.agent_id ?? '')}
        {verdict.reason === undefined ? null : `: ${verdict.reason}`}
      </span>
      <span class="verdict-step">
        {status === 'answering'
          ? 'the agent has yet to take it'
          : verdict.decision === 'withdrawn'
            ? ''
            : 'the agent has it'}
      </span>
    </p>
  );
}

/** What is left of the time in which an answer counts. */
function TimeLeft({ ask }: { ask: Ask }) {
  const { text, ms } = left(ask.expires_at);
  return (
    <span class={ms < 60_000 ? 'time-left time-short' : 'time-left'} title="Without an answer it is denied">
      {ms === 0 ? 'Denied' : `Denied in ${text}`}
    </span>
  );
}

/** A request in one line, for those who have more to look at. */
export function AskStrip({ rows, onOpen }: { rows: readonly AskRow[]; onOpen: () => void }) {
  const first = rows[0]?.ask;
  if (first === undefined) return null;
  return (
    <button type="button" class={`ask-strip risk-${first.risk}`} onClick={onOpen}>
      <Avatar name={first.agent_id} size="s" />
      <span class="ask-strip-text">
        <strong>
          {rows.length === 1 ? `${first.agent_id} ${wishOf(first)}` : `${rows.length} requests wait here`}
        </strong>
        <span class={first.command === undefined ? '' : 'mono'}>
          {showUnseen(first.command ?? first.prompt)}
        </span>
      </span>
      <TimeLeft ask={first} />
      <span class="ask-strip-go">{maySteer() ? 'Review' : 'Look'}</span>
    </button>
  );
}
