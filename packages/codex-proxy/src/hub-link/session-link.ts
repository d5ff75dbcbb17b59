import {
  type ApprovalRequest,
  askOf,
  type CodexEvent,
  decisionOfVerdict,
  describeEvent,
  publicText,
  spentByCodex,
} from '@parley/runtimes';
import { hideSecretsIn, errorText, errorStatus } from '@parley/protocol';
import { openSessionLink as link, type Report } from '@parley/supervisor/link';

import type { Log } from '../logger.ts';
import type { EndedTurn, OpenSession, OtherAnswer, StartedTurn } from '../session-observer.ts';
import { connectAgent } from './connect-agent.ts';
import { describeEnd, describeStart, failureOf } from './describe-turn.ts';
import { AccessRefused, type HubAccess } from './hub-access.ts';
import { commandsOf } from './session-commands.ts';

export interface SessionLinkDeps {
  access: HubAccess;
  /** How long an approval may wait for its answer. */
  askMs: number;
  log: Log;
  /** Hears that the hub is there or not, and why not. */
  onHub: (state: 'linked' | 'away', reason: string) => void;
}

/** One session as an agent of the hub: its state, its events, its asks and the commands it takes. */
export interface SessionLink {
  turnStarted(turn: StartedTurn): void;
  turnEnded(turn: EndedTurn): void;
  event(event: CodexEvent): void;
  warned(warning: string, facts: Record<string, unknown>): void;
  asked(request: ApprovalRequest, signal: AbortSignal): OtherAnswer;
  failed(reason: string): void;
  /** Says the rest if the hub is there, and takes leave; settles in any case. */
  close(): Promise<void>;
}

/** Links a session in the background, once its predecessor of the same name has taken leave. */
export function openSessionLink(
  { access, askMs, log, onHub }: SessionLinkDeps,
  session: OpenSession,
  predecessor: Promise<void>,
): SessionLink {
  const { agentId, identity } = session;
  let refusal = '';

  const linked = link({
    async connect(onConnection) {
      try {
        // Without these there is nothing to be patient about.
        access.url();
        await access.token(identity, agentId);
        return await connectAgent({
          url: () => access.url(),
          token: () => access.token(identity, agentId),
          name: identity,
          metadata: factsOf(session),
          commands: commandsOf(session),
          onConnection(state, reason) {
            onConnection(state, reason);
            if (state !== 'replaced') onHub(state === 'open' ? 'linked' : 'away', reason);
          },
        });
      } catch (error) {
        const reason = errorText(error);
        if (!(error instanceof AccessRefused) && errorStatus(error) === undefined) onHub('away', reason);
        else if (reason !== refusal)
          log('warn', 'a session is not let in at the hub', { agent_id: agentId, identity, reason });
        refusal = reason;
        throw error;
      }
    },
    renew: () => access.renew(agentId),
    facts: () => factsOf(session),
    askMs,
    predecessor,
    log: (level, message, facts) => log(level, message, { agent_id: agentId, ...facts }),
  });

  const report = (news: Report | undefined): void => {
    if (news !== undefined) linked.report(news);
  };
  return {
    turnStarted(turn) {
      const start = describeStart(turn);
      linked.begun(String(start.data?.['message']));
      report(start);
    },
    turnEnded(turn) {
      linked.rested(failureOf(turn));
      const spent = turn.end instanceof Error ? undefined : spentByCodex(turn.end.usage);
      if (spent !== undefined) linked.used(spent);
      report(describeEnd(turn));
    },
    event: (event) => report(describeEvent(event)),
    warned: (warning, facts) =>
      report({ event_type: 'warning', data: hideSecretsIn({ message: publicText(warning), ...facts }) }),
    asked(request, signal) {
      const { isThere, verdict } = linked.ask(askOf(request), signal);
      return { isThere, answer: verdict.then((given) => given && decisionOfVerdict(request, given)) };
    },
    failed: (reason) => linked.rested(reason),
    close: () => linked.close(),
  };
}

/** What tells one session from another, at every report. */
function factsOf(session: OpenSession): Record<string, unknown> {
  const { agent_id, team, cwd, repo_name, branch, role, tag, backend_id } = session.record();
  const facts = { session: agent_id, team, cwd, repo: repo_name, branch, role, tag, thread: backend_id };
  return hideSecretsIn(
    Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null && value !== undefined)),
  );
}
