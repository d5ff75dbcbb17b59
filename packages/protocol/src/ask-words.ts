/** Why an ask is withdrawn when its agent does not say. The store's thread and commands need these words and not their schemas. */
export const NO_LONGER_NEEDED = 'no longer needed';

/** Why the hub itself withdraws an ask: whoever raised it is no longer there. */
export const AGENT_GONE = 'the agent is gone';

/** How far an ask has come. */
export const ASK_STATUSES = ['open', 'answering', 'resolved'] as const;
