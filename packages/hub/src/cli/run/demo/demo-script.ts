/** Who plays in the demo. */
export const AGENTS = {
  coordinator_agent: 'orchestrator',
  executioner_agent: 'worker',
  reviewer_agent: 'worker',
} as const;

export type AgentName = keyof typeof AGENTS;

/** One turn: an agent reads what is new, acknowledges it, and says something. */
export interface Turn {
  by: AgentName;
  body: string;
  /** The event it reports; without one it just talks. */
  event?: string;
  metadata?: Record<string, unknown>;
  /** Which earlier turn it answers, counted from 0. */
  answers?: number;
}

export const TITLE = 'Profile mapper review loop';

const TASK = { task_id: 'TASK-219' };
const FILE = 'lib/features/profile/data/mappers/user_mapper.dart';
const COMMIT = 'abc1234';

/** A review from the first finding to the resolved thread. */
export const TURNS: readonly Turn[] = [
  { by: 'coordinator_agent', body: 'TASK-219 is ready. reviewer_agent, please review the profile mapper.' },
  {
    by: 'reviewer_agent',
    event: 'finding_reported',
    body: 'Blocking issue found in null fallback: a user without a nickname becomes "null".',
    metadata: { ...TASK, finding_id: 'F1', severity: 'high', file: FILE, line: 42 },
  },
  {
    by: 'reviewer_agent',
    event: 'finding_reported',
    body: 'The avatar URL is not trimmed before it is parsed.',
    metadata: { ...TASK, finding_id: 'F2', severity: 'low', file: FILE, line: 57 },
  },
  { by: 'executioner_agent', body: 'Both are real. I take them now.', answers: 1 },
  {
    by: 'executioner_agent',
    event: 'fix_pushed',
    body: 'Fall back to the display name; trim the URL. Tests added for both.',
    metadata: { ...TASK, commit: COMMIT, branch: 'fix/user-mapper', files: [FILE] },
  },
  {
    by: 'executioner_agent',
    event: 're_review_requested',
    body: 'Please look again.',
    metadata: { ...TASK, reviewer: 'reviewer_agent', commit: COMMIT },
  },
  {
    by: 'reviewer_agent',
    event: 'finding_verified',
    body: 'The fallback is right now.',
    metadata: { ...TASK, finding_id: 'F1', commit: COMMIT },
    answers: 5,
  },
  {
    by: 'reviewer_agent',
    event: 'finding_verified',
    body: 'The URL is trimmed.',
    metadata: { ...TASK, finding_id: 'F2', commit: COMMIT },
  },
  {
    by: 'coordinator_agent',
    event: 'thread_resolved',
    body: 'Reviewed and verified. Thank you both.',
    metadata: { ...TASK, reason: 'all_findings_verified' },
  },
];

/** After this turn the demo stops to show what is open. */
export const HALF_WAY = 5;
