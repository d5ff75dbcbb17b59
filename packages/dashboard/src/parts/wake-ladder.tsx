import type { ThreadEvent } from '@parley/protocol';

import { whenTime, fullTime } from '../time.ts';
import { Section } from './page.tsx';

/** One step of a wake, as the hub tells it. */
export interface LadderStep {
  trigger_id: string;
  step?: string;
  door?: string;
  reason?: string;
  code?: string;
  skip?: string;
  proof?: string;
  detail?: string;
  ok?: boolean;
}

/** What each step of a wake says. */
const STEPS: Record<string, (step: LadderStep) => string> = {
  asked: ({ reason }) => `Asked for${reason === undefined ? '' : `: ${plain(reason)}`}`,
  forced: () => 'Forced by an operator',
  door_passed: ({ door, reason }) => `${plain(door)}: skipped, ${plain(reason)}`,
  door_failed: ({ door, reason }) => `${plain(door)}: failed, ${plain(reason)}`,
  deferred: ({ door, reason }) => `${plain(door)}: waiting, ${plain(reason)}`,
  queued: ({ door }) => `${plain(door)}: the runtime has queued it`,
  delivered: ({ door, proof }) =>
    `${plain(door)}: delivered${proof === undefined ? '' : `, seen by ${plain(proof)}`}`,
  unproven: ({ reason }) => `Not seen at work yet: ${plain(reason)}`,
  skipped: ({ skip }) => `Nobody was woken${skip === undefined ? '' : `: ${plain(skip)}`}`,
  failed: ({ code }) => `Not woken: ${plain(code)}`,
  ended: ({ ok, detail }) => (ok === true ? 'Its turn is over' : `Its turn failed: ${plain(detail)}`),
};

const DONE = new Set(['delivered', 'queued', 'ended', 'asked', 'forced']);

/** A step in words. */
export function stepWords(step: LadderStep): string {
  return (STEPS[step.step ?? ''] ?? (() => plain(step.step)))(step);
}

/** The last wake of an agent, door by door, as it goes on; nothing where there was none. */
export function WakeLadder({ events }: { events: readonly ThreadEvent[] }) {
  const steps = events
    .map((event) => ({ event, step: stepOf(event) }))
    .filter((one): one is { event: ThreadEvent; step: LadderStep } => one.step !== undefined);
  const last = steps[0]?.step.trigger_id;
  const ladder = steps.filter(({ step }) => step.trigger_id === last).toReversed();
  if (ladder.length === 0) return null;
  return (
    <Section title="Last wake">
      <ol class="evidence ladder" aria-live="polite">
        {ladder.map(({ event, step }) => (
          <li key={event.id} class={DONE.has(step.step ?? '') ? 'step-done' : ''}>
            {stepWords(step)}{' '}
            <time class="meta" dateTime={event.ts} title={fullTime(event.ts)}>
              {whenTime(event.ts)}
            </time>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function stepOf({ type, content }: ThreadEvent): LadderStep | undefined {
  // The hub tells by its contract.
  return type === 'control' ? (content as { 'agent.wake'?: LadderStep } | null)?.['agent.wake'] : undefined;
}

function plain(word: string | undefined): string {
  return (word ?? '').replaceAll('_', ' ');
}
