import { setTimeout as sleep } from 'node:timers/promises';

import { AgentName } from '@parley/protocol';

import type { Log } from '../logger.ts';
import type { SessionObserver } from '../session-observer.ts';
import type { HubAccess } from './hub-access.ts';
import { openSessionLink, type SessionLink } from './session-link.ts';

export interface HubLinkDeps {
  access: HubAccess;
  askMs: number;
  log: Log;
}

/** Shows every session of this proxy to the hub, as long as there is one. */
export interface HubLink extends SessionObserver {
  /** Waits for the last words, but not for long. */
  close(): Promise<void>;
}

/** How long the end of the proxy may wait for the hub. */
const LEAVE_MS = 1_000;

/** Links sessions as they open; of the hub's coming and going there is one line each. */
export function createHubLink({ access, askMs, log }: HubLinkDeps): HubLink {
  const linksById = new Map<string, { identity: string; link: SessionLink }>();
  const leaveByIdentity = new Map<string, Promise<void>>();
  let known: 'linked' | 'away' | undefined;

  const onHub = (state: 'linked' | 'away', reason: string): void => {
    if (state === known) return;
    if (state === 'linked') log('info', 'linked to the hub', { hub: access.place });
    else if (known === undefined) log('info', 'not linked to a hub; sessions work without one', { reason });
    else log('warn', 'the hub is away; sessions go on without it', { reason });
    known = state;
  };

  const leave = (identity: string, link: SessionLink): void => {
    const left = link.close();
    leaveByIdentity.set(identity, left);
    void left.then(() => {
      if (leaveByIdentity.get(identity) === left) leaveByIdentity.delete(identity);
    });
  };

  return {
    opened(session) {
      const { agentId, identity } = session;
      // Names with a dot are those of agents in a team that is linked to the hub.
      if (!AgentName.safeParse(identity).success || identity.includes('.')) {
        log('warn', 'an identity cannot be the name of an agent at the hub: not linked', { identity });
        return;
      }
      const predecessor = leaveByIdentity.get(identity) ?? Promise.resolve();
      const link = openSessionLink({ access, askMs, log, onHub }, session, predecessor);
      linksById.set(agentId, { identity, link });
    },
    turnStarted: (agentId, turn) => linksById.get(agentId)?.link.turnStarted(turn),
    turnEnded: (agentId, turn) => linksById.get(agentId)?.link.turnEnded(turn),
    event: (agentId, event) => linksById.get(agentId)?.link.event(event),
    warned: (agentId, warning, facts) => linksById.get(agentId)?.link.warned(warning, facts),
    asked: (agentId, request, signal) =>
      linksById.get(agentId)?.link.asked(request, signal) ?? {
        isThere: () => false,
        answer: Promise.resolve(undefined),
      },
    childDied() {
      for (const { link } of linksById.values()) link.failed('the Codex process is gone');
    },
    closed(agentId) {
      const ended = linksById.get(agentId);
      if (ended === undefined) return;
      linksById.delete(agentId);
      leave(ended.identity, ended.link);
    },
    async close() {
      if (known !== 'away') await Promise.race([Promise.all(leaveByIdentity.values()), sleep(LEAVE_MS)]);
    },
  };
}
