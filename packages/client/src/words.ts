import type { OutputOf } from '@parley/protocol';

/** A thread, and where the one who asks stands in it. */
export type Thread = OutputOf<'list_threads'>['threads'][number];

/** An agent as others see it. */
export type AgentView = OutputOf<'list_agents'>['agents'][number];
