import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { TeamMail, Watch } from '@parley/mail';
import { AgentName, ParleyError } from '@parley/protocol';
import { type FileLock, lockFile } from '@parley/sqlite';

import type { HubAccess } from '../hub-link/hub-access.ts';
import type { Log } from '../logger.ts';
import type { BridgeCounts, BridgeDeps } from './bridge-deps.ts';
import { hubNameOf } from './bridge-names.ts';
import { openStateFile, type StateFile } from './bridge-state.ts';
import { hearHub, PEER_TYPE } from './hear-hub.ts';
import { createPairThreads } from './pair-threads.ts';
import { tellHub } from './tell-hub.ts';
import { createHubClients, Stopped, type HubClients } from './hub-clients.ts';

export interface BridgeOptions {
  team: string;
  /** Where the team's sessions stand, and the link's lock and state with them. */
  folder: string;
  home: string;
  workspace: string | null;
  access: HubAccess;
  mail: TeamMail;
  pollMs: number;
  /** Hears of the link's own affairs. */
  tell: (news: BridgeNews) => void;
  log: Log;
}

/** What happens to a link, in the order in which it does. */
export type BridgeNews =
  | { event: 'waiting'; reason: string }
  | { event: 'linked'; names: Record<string, string> }
  | { event: 'away'; reason: string }
  | { event: 'back' };

/** How a link stands. */
interface BridgeStatus extends BridgeCounts {
  /** waiting: for another process or for the team; away: the hub, for some name at least. */
  state: 'waiting' | 'linked' | 'away' | 'stopped';
  problem: string | null;
  members: string[];
  peers: string[];
}

/** A team's mail and a workspace, reaching each other. */
export interface Bridge {
  status(): BridgeStatus;
  /** Settles when the link has ended; rejects when it could not go on. */
  ended: Promise<void>;
  /** What was begun is finished, what is open is remembered. */
  stop(): Promise<void>;
}

/** New members and an unnoticed change of an inbox are found so soon. */
const LOOK_MS = 1_000;

/** The files of a link; no identity can have their names. */
export function bridgePlaces(folder: string): { lock: string; state: string } {
  return { lock: join(folder, '.bridge.lock'), state: join(folder, '.bridge.json') };
}

/** Links a team to a workspace; one process of a team does it, another waits until that one ends. */
export function openBridge(options: BridgeOptions): Bridge {
  const { team, folder, home, workspace, access, mail, pollMs, tell, log } = options;
  const stop = new AbortController();
  const stopping = stop.signal;
  const counts: BridgeCounts = { to_hub: 0, to_mail: 0, cut: 0, refused: 0 };
  const problems = new Map<string, string>();
  let state: BridgeStatus['state'] = 'waiting';
  let waitsFor: string | undefined;
  let file: StateFile | undefined;
  let members: string[] = [];

  const waiting = (reason: string): void => {
    if (waitsFor !== reason) tell({ event: 'waiting', reason });
    waitsFor = reason;
  };
  const onProblem = (name: string, reason: string | undefined): void => {
    if (reason === undefined) {
      if (problems.delete(name) && problems.size === 0) tell({ event: 'back' });
      return;
    }
    const isKnown = [...problems.values()].includes(reason);
    problems.set(name, reason);
    if (!isKnown) tell({ event: 'away', reason });
  };
  const hubClients = createHubClients({ access, onProblem, stopping });

  async function takeLock(): Promise<FileLock> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (;;) {
      try {
        return lockFile(bridgePlaces(folder).lock, 0);
      } catch (error) {
        if (!(error instanceof ParleyError) || error.code !== 'CONFLICT') throw error;
        waiting('another process links this team');
      }
      await rest(LOOK_MS);
    }
  }

  async function rest(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: stopping }).catch(() => {});
    if (stopping.aborted) throw new Stopped();
  }

  /** The members as they are now; while there is no team, those that were known. */
  async function look(): Promise<void> {
    try {
      const found = await mail.members();
      members = found.flatMap(({ name, agent_type }) => (agent_type === PEER_TYPE ? [] : [name]));
      waitsFor = undefined;
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      members = [];
      waiting(error.message);
    }
  }

  async function run(): Promise<void> {
    if (!AgentName.safeParse(hubNameOf(team, 'team-lead')).success)
      throw new ParleyError(
        'VALIDATION_ERROR',
        `team ${team} cannot be linked: no name at the hub begins like it`,
      );
    const lock = await takeLock();
    try {
      file = await openStateFile(bridgePlaces(folder).state, { hub: access.place, workspace }, new Date());
      try {
        await link({ team, home, mail, hubClients, file, counts, onProblem, log, stopping });
      } finally {
        await file.close();
      }
    } finally {
      lock.release();
    }
  }

  async function link(deps: BridgeDeps): Promise<void> {
    const known = deps.file.state;
    for (await look(); members.length === 0; await look()) await rest(LOOK_MS);
    known.start ??= await startOf(hubClients, hubNameOf(team, members[0] ?? ''));
    await deps.file.save();
    state = 'linked';
    tell({
      event: 'linked',
      names: Object.fromEntries(members.map((name) => [name, hubNameOf(team, name)])),
    });

    const pairs = createPairThreads(deps);
    const inboxes = new Map<string, InboxRun>();
    const listeners = new Map<string, { leave: AbortController; done: Promise<void> }>();
    const listen = (member: string): void => {
      const leave = new AbortController();
      const done = hearHub(deps, member, leave.signal).catch((error: Error) => {
        if (error instanceof Stopped) return;
        counts.refused += 1;
        log('error', 'the hub cannot be heard for a member', { member, reason: error.message });
      });
      listeners.set(member, { leave, done });
    };
    try {
      for (;;) {
        for (const [member, { leave }] of listeners) if (!members.includes(member)) leave.abort();
        for (const [member, { leave, done }] of listeners)
          if (leave.signal.aborted) {
            await done;
            listeners.delete(member);
            problems.delete(hubNameOf(team, member));
          }
        for (const member of members) if (!listeners.has(member)) listen(member);
        for (const name of new Set([...members, ...Object.keys(known.peers), ...Object.keys(known.told)]))
          if (!inboxes.has(name))
            inboxes.set(
              name,
              runInbox(deps, name, () => tellHub(deps, pairs, name)),
            );
        for (const inbox of inboxes.values()) inbox.wake();
        await rest(Math.min(pollMs, LOOK_MS));
        await look();
      }
    } finally {
      stop.abort();
      for (const { leave } of listeners.values()) leave.abort();
      for (const inbox of inboxes.values()) inbox.wake();
      await Promise.all([...inboxes.values(), ...listeners.values()].map(({ done }) => done));
    }
  }

  interface InboxRun {
    wake(): void;
    done: Promise<void>;
  }

  /** Runs whenever the inbox may have changed, one run at a time. */
  function runInbox(deps: BridgeDeps, name: string, tellOnce: () => Promise<void>): InboxRun {
    let isDue = true;
    let ring = (): void => {};
    const wake = (): void => {
      isDue = true;
      ring();
    };
    const watched: Watch = mail.watch(name, wake);
    let said = '';
    const runs = async (): Promise<void> => {
      while (!stopping.aborted) {
        if (!isDue) await new Promise<void>((resolve) => (ring = resolve));
        isDue = false;
        await tellOnce().catch((error: Error) => {
          if (error instanceof Stopped || error.message === said) return;
          said = error.message;
          deps.log('warn', 'an inbox cannot be told at the hub', { inbox: name, reason: error.message });
        });
      }
    };
    return { wake, done: runs().finally(() => watched.close()) };
  }

  const ended = run()
    .catch((error: unknown) => {
      if (!(error instanceof Stopped)) throw error;
    })
    .finally(() => (state = 'stopped'));
  ended.catch(() => {});
  return {
    status: () => ({
      state: state === 'linked' && problems.size > 0 ? 'away' : state,
      problem: [...problems.values()][0] ?? waitsFor ?? null,
      members,
      peers: Object.keys(file?.state.peers ?? {}),
      ...counts,
    }),
    ended,
    async stop() {
      stop.abort();
      await ended.catch(() => {});
    },
  };
}

/** Where the hub's log stands now. */
function startOf(hubClients: HubClients, name: string): Promise<number> {
  return hubClients.as(name, async (client) => {
    const found = new AbortController();
    let position: number | undefined;
    const onHello = (at: number): void => {
      position = at;
      found.abort();
    };
    const stream = client.followAll(undefined, { signal: found.signal, onHello });
    for (let next = await stream.next(); next.done !== true; next = await stream.next());
    if (position === undefined) throw new Error('the hub did not say where its log stands');
    return position;
  });
}
