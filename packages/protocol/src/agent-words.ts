/** How an agent can be, what needs a person first. Commands need these words and not their schemas. */
export const AGENT_STATES = ['needs_you', 'stuck', 'error', 'working', 'idle', 'offline'] as const;
