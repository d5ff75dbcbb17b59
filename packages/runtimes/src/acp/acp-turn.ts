import type { ManagedTurn, ManagedTurnEnd } from '../managed/session.ts';
import { type Loose, numberAt, objectAt, textAt } from '../process/rpc-peer.ts';
import { RuntimeError } from '../runtime-error.ts';
import { publicText } from '../public-text.ts';

/** One prompt on its way through an agent. */
export interface AcpTurn extends ManagedTurn {
  ended: Promise<ManagedTurnEnd>;
  /** The agent tells what it does. */
  take(update: Loose): void;
  /** Something else shows that it works on the prompt. */
  noteWork(): void;
  /** Somebody wants it to end. */
  interrupt(): void;
  /** The agent has answered the prompt. */
  end(answer: Loose): void;
  /** It never will, or refused. */
  lose(reason: string): void;
  /** What the session has cost so far, in dollars, as the agent says. */
  readonly cost: number | undefined;
}

/** What only an agent that works on the prompt tells; news of its settings may come at any time. */
const WORK: ReadonlySet<string> = new Set([
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
]);
const MOST_TEXT = 65_536;

/** Follows one turn from the agent's own events. */
export function createAcpTurn(costBefore: number | undefined): AcpTurn {
  const startedAt = performance.now();
  let text = '';
  let messageId: string | undefined;
  let cost = costBefore;
  let begun = false;
  let interrupted = false;
  let begin: (by: 'runtime_status' | 'runtime_record') => void = () => {};
  let refuse: (error: RuntimeError) => void = () => {};
  let finish: (end: ManagedTurnEnd) => void = () => {};
  const started = new Promise<'runtime_status' | 'runtime_record'>((resolve, reject) => {
    begin = resolve;
    refuse = reject;
  });
  started.catch(() => {});
  const ended = new Promise<ManagedTurnEnd>((resolve) => (finish = resolve));

  function noteWork(): void {
    begun = true;
    begin('runtime_status');
  }

  function over(status: ManagedTurnEnd['status'], more: Partial<ManagedTurnEnd>): void {
    refuse(new RuntimeError('REFUSED', more.error ?? 'the turn was ended before the agent began with it'));
    // Its tokens are those of the last request alone; what the session cost so far tells of the whole turn.
    const paid = cost === undefined || costBefore === undefined ? 0 : cost - costBefore;
    const spent = paid > 0 ? { spent: { cost_usd: paid } } : {};
    finish({ status, text, durationMs: performance.now() - startedAt, ...spent, ...more });
  }

  return {
    started,
    ended,
    noteWork,
    get cost() {
      return cost;
    },
    take(update) {
      const kind = textAt(update, 'sessionUpdate') ?? '';
      if (WORK.has(kind)) noteWork();
      // What it says after its last tool is its last word.
      if (kind === 'tool_call') text = '';
      if (kind === 'usage_update') cost = dollarsOf(objectAt(update, 'cost')) ?? cost;
      if (kind !== 'agent_message_chunk') return;
      const id = textAt(update, 'messageId');
      if (id !== messageId) text = '';
      messageId = id;
      text = (text + (textAt(objectAt(update, 'content'), 'text') ?? '')).slice(0, MOST_TEXT);
    },
    interrupt: () => void (interrupted = true),
    end(answer) {
      const reason = textAt(answer, 'stopReason');
      const usage = objectAt(answer, 'usage');
      const more = Object.keys(usage).length === 0 ? {} : { usage: numbersOf(usage) };
      if (reason === 'cancelled' || (interrupted && reason === undefined)) return over('interrupted', more);
      if (reason === undefined)
        return over('failed', { ...more, error: 'the agent answered without saying why it stopped' });
      // Whoever comes to an end by itself has worked on it.
      if (!begun) noteWork();
      if (reason === 'end_turn') return over('completed', more);
      over('failed', { ...more, error: publicText(STOPPED[reason] ?? `it stopped: ${reason}`, 300) });
    },
    lose(reason) {
      over(interrupted ? 'interrupted' : 'failed', { error: publicText(reason, 500) });
    },
  };
}

const STOPPED: Partial<Record<string, string>> = {
  refusal: 'the model refused to go on',
  max_tokens: 'it came to the most tokens it may use',
  max_turn_requests: 'it came to the most requests one turn may make',
};

function numbersOf(usage: Loose): Record<string, number> {
  return Object.fromEntries(
    Object.entries(usage)
      .flatMap(([key, value]) => (typeof value === 'number' ? [[key, value]] : []))
      .slice(0, 20),
  );
}

function dollarsOf(cost: Loose): number | undefined {
  return cost['currency'] === 'USD' ? numberAt(cost, 'amount') : undefined;
}
