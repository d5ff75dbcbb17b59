import type { ThreadEvent } from '@parley/protocol';

import type { OnComment } from './diff-view.tsx';
import type { IconName } from './icon.tsx';
import { Icon } from './icon.tsx';
import { reportedAs, textOf } from '../words.ts';
import { Text } from './text.tsx';

/** The face of each thing that agents report. */
const FACES: Record<string, { icon: IconName; label: string; tone: string }> = {
  finding_reported: { icon: 'flag', label: 'Finding', tone: 'bad' },
  fix_pushed: { icon: 'commit', label: 'Fix pushed', tone: 'accent' },
  re_review_requested: { icon: 'eye', label: 'Review requested', tone: 'needs' },
  finding_verified: { icon: 'check', label: 'Verified', tone: 'good' },
  finding_rejected: { icon: 'cross', label: 'Rejected', tone: 'bad' },
  thread_escalated: { icon: 'warn', label: 'Escalated', tone: 'bad' },
  thread_resolved: { icon: 'check', label: 'Resolved', tone: 'good' },
  task: { icon: 'bolt', label: 'Task', tone: 'accent' },
  result: { icon: 'check', label: 'Result', tone: 'good' },
  task_started: { icon: 'play', label: 'Started', tone: 'accent' },
  task_completed: { icon: 'check', label: 'Completed', tone: 'good' },
  task_failed: { icon: 'cross', label: 'Failed', tone: 'bad' },
  error: { icon: 'warn', label: 'Error', tone: 'bad' },
  warning: { icon: 'warn', label: 'Warning', tone: 'needs' },
};

/** Something reported rather than said: what kind, about what, and in which words. */
export function EventCard({ event, onComment }: { event: ThreadEvent; onComment?: OnComment | undefined }) {
  const metadata = event.meta.metadata ?? {};
  const name = event.type === 'message' ? reportedAs(event) : event.type;
  const { icon, label, tone } = FACES[name] ?? {
    icon: 'info',
    label: name.replaceAll('_', ' '),
    tone: 'plain',
  };
  const text = (key: string): string | undefined => {
    const value = metadata[key];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  };
  const file = text('file');
  const line = text('line');
  const facts = [text('task_id'), text('finding_id'), text('commit'), text('branch')].filter(
    (fact) => fact !== undefined,
  );
  return (
    <div class={`card-event tone-${tone}`}>
      <header>
        <Icon name={icon} size={16} />
        <strong>{label}</strong>
        {text('severity') === undefined ? null : (
          <span class={`tag severity-${text('severity') ?? ''}`}>{text('severity')}</span>
        )}
        {facts.map((fact) => (
          <span key={fact} class="tag mono">
            {fact}
          </span>
        ))}
      </header>
      {file === undefined ? null : (
        <p class="card-file mono">
          {file}
          {line === undefined ? '' : `:${line}`}
        </p>
      )}
      <Text text={textOf(event.content)} onComment={onComment} />
    </div>
  );
}
