import { commandHead, type HeadPorts, hubCaller, type Log, quarterOf, treeId } from '@parley/core';
import { CONTRACTS, ENVELOPE_ACTIONS, type EnvelopeAction } from '@parley/protocol';

import type { Alias } from './principal.ts';
import { EnvelopeRefusal } from './refusal.ts';

/** An action that is to end. */
export interface DeprecatedAction {
  action: EnvelopeAction;
  ends_at: string;
  use?: string | undefined;
}

/** Tells those who use what is old that it is; the log of the tree says so once a quarter. */
export interface Deprecations {
  noteAlias(workspaceId: string, alias: Alias, deadline: number): Promise<void>;
  /** The headers that go with a use of the action; refuses one that has ended. */
  checkAction(workspaceId: string, action: EnvelopeAction, deadline: number): Promise<Record<string, string>>;
}

interface DeprecationDeps extends HeadPorts {
  log: Log;
  deprecated: readonly DeprecatedAction[];
}

interface Reported {
  quarter: string;
  announced_at: string;
  ends_at: string;
}

/** The rule sees to it that each is told once; what is remembered here spares the asking. */
export function createDeprecations(deps: DeprecationDeps): Deprecations {
  const { log, deprecated } = deps;
  const { now } = deps.clock;
  const notedAliases = new Map<string, string>();
  const reportedByUse = new Map<string, Reported>();
  const head = (workspaceId: string, deadline: number) => ({
    ...commandHead(deps, hubCaller(workspaceId)),
    deadline,
    thread_id: treeId(workspaceId),
  });

  async function tell(
    workspaceId: string,
    { action, ends_at, use }: DeprecatedAction,
    deadline: number,
  ): Promise<Reported> {
    const quarter = quarterOf(now());
    const name = `${workspaceId} ${action}`;
    const known = reportedByUse.get(name);
    if (known?.quarter === quarter) return known;
    const { version } = CONTRACTS[ENVELOPE_ACTIONS[action]];
    const input = { action, version, ends_at, ...(use === undefined ? {} : { use }) };
    const { result } = await log.append({ type: 'note_deprecation', ...head(workspaceId, deadline), input });
    // The rule answers with both.
    const reported = { quarter, ...(result as Pick<Reported, 'announced_at' | 'ends_at'>) };
    reportedByUse.set(name, reported);
    return reported;
  }

  return {
    async noteAlias(workspaceId, { alias, role }, deadline) {
      const quarter = quarterOf(now());
      const name = `${workspaceId} ${alias}`;
      if (notedAliases.get(name) === quarter) return;
      await log.append({ type: 'note_alias', ...head(workspaceId, deadline), input: { alias, role } });
      notedAliases.set(name, quarter);
    },
    async checkAction(workspaceId, action, deadline) {
      const ending = deprecated.find((one) => one.action === action);
      if (ending === undefined) return {};
      const { announced_at, ends_at } = await tell(workspaceId, ending, deadline);
      const until = Date.parse(ends_at);
      if (now() >= until)
        throw new EnvelopeRefusal('INVALID_ARGUMENT', `this action has ended on ${ends_at.slice(0, 10)}`, {
          hint: ending.use === undefined ? 'GET /mcp/capabilities lists the actions' : `use ${ending.use}`,
        });
      return {
        deprecation: `@${Math.floor(Date.parse(announced_at) / 1_000)}`,
        sunset: new Date(until).toUTCString(),
      };
    },
  };
}
