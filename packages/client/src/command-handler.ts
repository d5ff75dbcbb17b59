import type { Role } from '@parley/protocol';

/** Who sent a command, as the hub has verified it. */
export interface CommandSource {
  agentId: string;
  /** Undefined from a hub that does not say. */
  role: Role | undefined;
}

/** Does one command; what it gives back is the result, what it throws is the error. */
export type CommandHandler = (parameters: Record<string, unknown>, source: CommandSource) => unknown;
