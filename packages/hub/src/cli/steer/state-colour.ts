import type { AgentView } from '@parley/protocol';

/** The colour of each state at a terminal. */
export const STATE_COLOUR: Record<
  AgentView['state'],
  'yellow' | 'red' | 'green' | 'gray' | 'cyan' | 'magenta'
> = {
  needs_you: 'yellow',
  stuck: 'magenta',
  error: 'red',
  working: 'green',
  idle: 'cyan',
  offline: 'gray',
};
