import type { Happening } from '@parley/client';
import { type Member } from '@parley/mail';
import {
  messageIdOfEvent,
  ParleyError,
  type ThreadEvent,
  fieldsOf,
  errorCode,
  errorText,
} from '@parley/protocol';

import { retry } from '@parley/supervisor/link';
import type { BridgeDeps } from './bridge-deps.ts';
import { hubNameOf, isOfTeam, mailNamesOf } from './bridge-names.ts';
import { bare } from './bridge-state.ts';
import { Stopped } from './hub-clients.ts';
import { mailTextOf } from './wording.ts';

/** How members that stand for somebody at the hub are told apart. */
export const PEER_TYPE = 'parley';

/** Brings one member what is said to it at the hub, until the signal ends it. */
export async function hearHub(deps: BridgeDeps, member: string, signal: AbortSignal): Promise<void> {
  const { team, hubClients, file, log } = deps;
  const { state } = file;
  const name = hubNameOf(team, member);
  while (!signal.aborted) {
    try {
      await hubClients.as(
        name,
        async (client) => {
          const onHello = (): void => deps.onProblem(name, undefined);
          const after = state.heard[name] ?? state.start ?? undefined;
          for await (const happening of client.followAll(after, { signal, onHello }))
            await hear(deps, member, happening, signal);
        },
        signal,
      );
    } catch (error) {
      if (error instanceof Stopped) return;
      const { position } = fieldsOf(fieldsOf(error)['details']);
      if (typeof position !== 'number') throw error;
      log('warn', "the hub's log is shorter than before, as another hub's: the link goes on from its end", {
        name,
      });
      state.heard[name] = position;
      await file.save();
    }
  }
}

async function hear(
  deps: BridgeDeps,
  member: string,
  { pos, event }: Happening,
  signal: AbortSignal,
): Promise<void> {
  if (pos === undefined) return;
  const { team, file } = deps;
  const name = hubNameOf(team, member);
  if (isForMember(team, name, event)) {
    // A full disk or a lock is no reason to lose it.
    const done = await retry(
      () => bring(deps, member, event).then(() => true),
      () => 'again',
      signal,
    );
    if (done === undefined) throw new Stopped();
  }
  file.state.heard[name] = pos;
  file.saveSoon();
}

/** Words of somebody else than the team, to this one or to all; what was mail never becomes mail again. */
function isForMember(team: string, name: string, { type, from, to, meta }: ThreadEvent): boolean {
  const isSaid = type === 'message' || type === 'task' || type === 'result';
  return (
    isSaid && !isOfTeam(team, from) && (to === name || to === 'all') && meta.metadata?.['mail'] === undefined
  );
}

async function bring(deps: BridgeDeps, member: string, event: ThreadEvent): Promise<void> {
  const { team, mail, counts, log } = deps;
  const message_id = messageIdOfEvent(event.id ?? '');
  try {
    const sender = await introduce(deps, member, event);
    const message = mailTextOf(String(event.content));
    const { duplicate } = await mail.send(sender, { to: `${member}@${team}`, message, message_id });
    if (!duplicate) counts.to_mail += 1;
  } catch (error) {
    const code = errorCode(error);
    const reason = errorText(error);
    if (code === 'IDEMPOTENCY_CONFLICT') return;
    if (code !== 'VALIDATION_ERROR' && code !== 'FORBIDDEN') {
      log('debug', 'a message could not be brought yet', { message_id, to: member, reason });
      throw error;
    }
    counts.refused += 1;
    log('warn', 'a message could not become mail', { message_id, to: member, code, reason });
  }
}

/** Makes the sender a member that can be answered, and remembers where; gives its name in the team. */
async function introduce(deps: BridgeDeps, member: string, { from, thread }: ThreadEvent): Promise<string> {
  const { mail, file, home } = deps;
  const { peers } = file.state;
  const members = await mail.members();
  const name = Object.keys(peers).find((one) => peers[one]?.agent === from) ?? freeName(from, members);
  const peer = (peers[name] ??= { agent: from, threads: bare() });
  if (peer.threads[member] !== thread) {
    peer.threads[member] = thread;
    // Before there is something to answer.
    await file.save();
  }
  if (!members.some((one) => one.name === name)) await mail.join(name, { agentType: PEER_TYPE, cwd: home });
  return name;
}

function freeName(from: string, members: readonly Member[]): string {
  const found = mailNamesOf(from).find(
    (name) => !members.some((one) => one.name === name && one.agent_type !== PEER_TYPE),
  );
  if (found === undefined)
    throw new ParleyError('FORBIDDEN', `the team has members of its own under every name for ${from}`);
  return found;
}
