import { access } from 'node:fs/promises';

import type { Codex } from '@parley/runtimes';

import type { Audit } from '../audit/open-audit.ts';
import { proxyError } from '../errors.ts';
import type { Identities } from '../identity/identities.ts';
import type { TeamNames } from '../identity/team-names.ts';
import type { Log } from '../logger.ts';
import type { MailDelivery } from '../mail/mail-delivery.ts';
import type { Membership } from '../mail/membership.ts';
import type { SessionServer } from '../mail/session-server.ts';
import type { SessionObserver, StartedTurn } from '../session-observer.ts';
import type { LeftBehind } from '../registry/left-behind.ts';
import type { Registry } from '../registry/open-registry.ts';
import { isActive, type SessionRecord } from '../registry/session-record.ts';
import { createSession, type CodexSession, type SessionLimits } from './session.ts';
import type { Launch, Preface } from './session-thread.ts';

export interface SessionsDeps {
  awake: () => Promise<Codex>;
  /** The child where it can load a thread again that was let go. */
  forgetful: () => Codex | undefined;
  registry: Registry;
  identities: Identities;
  names: TeamNames;
  audit: Audit;
  mailDelivery: MailDelivery;
  membership: Pick<Membership, 'join' | 'leave'>;
  sessionServer: Pick<SessionServer, 'admit' | 'dismiss'>;
  limits: SessionLimits;
  maxSessions: number;
  leftBehind: LeftBehind;
  now: () => Date;
  newAgentId: () => string;
  newMailKey: () => string;
  log: Log;
  threadKnown: (threadId: string) => void;
  refuseApprovals: (agentId: string) => void;
  observer: Pick<SessionObserver, 'opened' | 'turnStarted' | 'turnEnded' | 'closed'> | undefined;
}

/** What a new session is made of. */
interface NewSession {
  identity: string;
  team: string;
  cwd: string;
  role: string | null;
  tag: string | null;
  model: string | null;
  sandbox: string | null;
  approval_policy: string | null;
  agent_name: string | null;
  agent_source: string | null;
  auto_mail: boolean | null;
}

/** The sessions of this proxy: those that live, and those that the registry remembers. */
export interface Sessions {
  /** Binds the identity, or throws. */
  begin(made: NewSession, launch: Launch): Promise<CodexSession>;
  /** Takes up a session that had ended, under its own identity. */
  resume(record: SessionRecord, launch: Launch, preface: Preface | undefined): Promise<CodexSession>;
  /** Ends for good a session whose proxy is gone. */
  retire(record: SessionRecord): void;
  live(agentId: string): CodexSession | undefined;
  ofThread(threadId: string): CodexSession | undefined;
  /** The record of a session by its own id. */
  find(agentId: string): SessionRecord | undefined;
  findThread(threadId: string): SessionRecord | undefined;
  /** Newest first. */
  list(): SessionRecord[];
  active(): CodexSession[];
  /** What an ended session left for whoever resumes it. */
  summaryOf(record: SessionRecord): Promise<string | undefined>;
  childDied(): void;
  /** Settles when all that is known of the sessions is on disk. */
  saved(): Promise<void>;
  closeAll(): Promise<void>;
}

/** Keeps each identity bound to one session, and no more sessions than allowed. */
export function createSessions(deps: SessionsDeps): Sessions {
  const { registry, identities, leftBehind, log, observer } = deps;
  const liveById = new Map<string, CodexSession>();
  const releaseByThread = new Map<string, Promise<void>>();

  const open = (record: SessionRecord, launch: Launch, preface?: Preface): CodexSession => {
    const { agent_id: agentId, identity } = record;
    if (liveById.size >= deps.maxSessions)
      throw proxyError(
        'MAX_SESSIONS_EXCEEDED',
        `There are ${liveById.size} sessions already, and max_concurrent_threads is ${deps.maxSessions}`,
        { max_concurrent_threads: deps.maxSessions },
      );
    identities.bind(identity, agentId);
    let running: StartedTurn | undefined;
    const session = createSession(
      {
        ...deps,
        save: (current, when) => {
          // A session without a thread is nothing that could be taken up again.
          if (current.backend_id !== null) registry.put(current, when);
        },
        mailTools: async () => ({ atm: await deps.sessionServer.admit({ identity, agentId }) }),
        refuseApprovals: () => deps.refuseApprovals(agentId),
        turnStarted(turn) {
          running = turn;
          observer?.turnStarted(agentId, turn);
        },
        turnEnded(turn) {
          if (running !== undefined && running.source !== 'summary' && !session.isClosed())
            leftBehind.noteTurn(session.record(), running.prompt, turn.end);
          observer?.turnEnded(agentId, turn);
        },
        closed(interrupted, summary) {
          liveById.delete(agentId);
          deps.mailDelivery.detach(agentId);
          deps.sessionServer.dismiss(agentId);
          deps.membership.leave(identity);
          identities.release(identity, agentId);
          log('info', 'a session was closed', { agent_id: agentId, identity, interrupted });
          if (summary !== undefined) leftBehind.keepSummary(session.record(), summary);
          letGo(session.threadId());
          observer?.closed(agentId);
        },
      },
      launch,
      record,
      preface,
    );
    liveById.set(agentId, session);
    deps.membership.join(identity, { cwd: record.cwd, model: launch.thread.model });
    deps.mailDelivery.attach(session);
    log('info', 'a session was opened', { agent_id: agentId, identity });
    observer?.opened(session);
    return session;
  };

  /** Codex need not keep a closed thread at hand; whoever takes it up again waits until it is let go. */
  const letGo = (threadId: string | undefined): void => {
    const codex = deps.forgetful();
    if (threadId === undefined || codex === undefined) return;
    const release = codex
      .releaseThread(threadId)
      .catch((error: unknown) =>
        log('debug', 'a thread was not released', { thread_id: threadId, error: String(error) }),
      )
      .then(() => void releaseByThread.delete(threadId));
    releaseByThread.set(threadId, release);
  };

  const sessions: Sessions = {
    async begin(made, launch) {
      await deps.names.check(made.identity);
      const at = deps.now().toISOString();
      const record: SessionRecord = {
        agent_id: deps.newAgentId(),
        backend: 'codex',
        backend_id: null,
        repo_root: null,
        repo_name: null,
        branch: null,
        started_at: at,
        last_active: at,
        status: 'idle',
        mail_key: deps.newMailKey(),
        ...made,
      };
      return open(record, launch);
    },
    async resume(record, launch, preface) {
      await access(record.cwd).catch(() => {
        throw proxyError('INVALID_SESSION_PARAMS', `The session's folder is gone: ${record.cwd}`, {
          agent_id: record.agent_id,
          cwd: record.cwd,
        });
      });
      await deps.names.check(record.identity);
      await releaseByThread.get(record.backend_id ?? '');
      const live = liveById.get(record.agent_id);
      if (live !== undefined) return live;
      const { mail_key = null } = record;
      const known = mail_key === null ? { ...record, mail_key: deps.newMailKey() } : record;
      // Of an older version: the key must be on disk before any mail is marked with it.
      if (known !== record) registry.put(known);
      return open({ ...known, status: 'idle' }, launch, preface);
    },
    retire(record) {
      if (!liveById.has(record.agent_id)) registry.put({ ...record, status: 'closed' });
    },
    live: (agentId) => liveById.get(agentId),
    ofThread: (threadId) => [...liveById.values()].find((session) => session.threadId() === threadId),
    find: (agentId) => liveById.get(agentId)?.record() ?? registry.get(agentId),
    findThread: (threadId) => sessions.list().find(({ backend_id }) => backend_id === threadId),
    list() {
      const starting = [...liveById.values()].map((session) => session.record());
      const known = new Set(starting.map(({ agent_id }) => agent_id));
      return [...starting.toReversed(), ...registry.list().filter(({ agent_id }) => !known.has(agent_id))];
    },
    active: () => [...liveById.values()],
    summaryOf: async (record) => (isActive(record) ? undefined : leftBehind.summaryOf(record)),
    childDied() {
      for (const session of liveById.values()) session.childDied();
    },
    saved: () => registry.saved(),
    async closeAll() {
      void leftBehind.written();
      await Promise.all([...liveById.values()].map((session) => session.close('always')));
      await leftBehind.written();
      await registry.saved();
    },
  };
  return sessions;
}
