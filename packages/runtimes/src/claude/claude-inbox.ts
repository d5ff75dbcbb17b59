import { createConnection } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Inbox, InboxAnswer, InboxMessage, InboxState } from '../inbox.ts';
import { liveClaudeSessions } from './live-sessions.ts';
import { transcriptTail } from './transcript.ts';

export interface ClaudeInboxOptions {
  /** What Claude Code gives its own children, and nobody else should have. */
  socket: string;
  token: string;
  sessionId: string;
  configFolder: string;
}

/** The protocol between Claude Code sessions that this was tried with; it is no public interface. */
const PEER_PROTOCOL = 1;
const LOOK_MS = 100;
/** A session that starts is listed a moment after it has started our server. */
const LISTED_MS = 30_000;

/**
 * Gives a session messages by its own inbox, as another session would. They cannot approve anything, a person's draft
 * stays, and one counts as delivered only when the session's transcript holds it.
 */
export function claudeInbox({ socket, token, sessionId, configFolder }: ClaudeInboxOptions): Inbox {
  const openedAt = performance.now();

  async function state(): Promise<InboxState> {
    const session = (await liveClaudeSessions(configFolder)).find((one) => one.sessionId === sessionId);
    if (session === undefined) {
      const isStarting = performance.now() - openedAt < LISTED_MS;
      return { state: isStarting ? 'busy' : 'closed', reason: 'session_not_listed' };
    }
    if (session.peerProtocol !== PEER_PROTOCOL)
      return { state: 'closed', reason: `version_untried: ${session.version ?? 'unknown'}` };
    if (session.status === 'idle') return { state: 'idle' };
    return { state: 'busy', reason: `session_${session.status ?? 'unknown'}` };
  }

  return {
    state,
    async send({ prompt, mark, again, force, proofMs }: InboxMessage): Promise<InboxAnswer> {
      const isHeld = async () => (await transcriptTail(configFolder, sessionId)).includes(mark);
      if (again && (await isHeld())) return { delivered: true, proof: 'runtime_record' };
      const at = await state();
      if (at.state === 'closed') return { delivered: false, reason: at.reason };
      if (at.state === 'busy' && !force) return { delivered: false, reason: at.reason, deferred: true };
      const frames = [
        { type: 'auth', token },
        {
          type: 'user',
          message: { role: 'user', content: prompt },
          from: 'parley',
          priority: force ? 'now' : 'next',
        },
      ];
      await write(socket, frames.map((frame) => `${JSON.stringify(frame)}\n`).join(''), proofMs);
      const until = performance.now() + proofMs;
      while (performance.now() < until) {
        if (await isHeld()) return { delivered: true, proof: 'runtime_record' };
        await sleep(LOOK_MS);
      }
      return { delivered: false, reason: 'not_in_transcript' };
    },
  };
}

function write(socket: string, text: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const connection = createConnection(socket);
    connection.setTimeout(timeoutMs, () => connection.destroy(new Error('the inbox does not answer')));
    connection.on('connect', () => connection.end(text));
    connection.on('error', reject);
    connection.on('close', () => resolve());
    connection.resume();
  });
}
