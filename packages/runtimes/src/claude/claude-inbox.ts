import { createConnection } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { liveClaudeSessions } from './live-sessions.ts';
import { transcriptTail } from './transcript.ts';

export interface ClaudeInboxOptions {
  /** What Claude Code gives its own children, and nobody else should have. */
  socket: string;
  token: string;
  sessionId: string;
  configFolder: string;
}

export interface InboxMessage {
  prompt: string;
  /** Stands in the prompt; by it the message is found in the session's own transcript. */
  mark: string;
  /** Interrupts a turn that is running. */
  force: boolean;
  proofMs: number;
}

export type InboxAnswer =
  | { delivered: true; proof: 'runtime_record' }
  | { delivered: false; reason: string; deferred?: true };

/** The protocol between Claude Code sessions that this was tried with; it is no public interface. */
const PEER_PROTOCOL = 1;
const LOOK_MS = 100;

/**
 * Gives a session one message by its own inbox, as another session would. It cannot approve anything, a person's
 * draft stays, and it counts as delivered only when the session's transcript holds it.
 */
export async function sendToClaudeInbox(
  { socket, token, sessionId, configFolder }: ClaudeInboxOptions,
  { prompt, mark, force, proofMs }: InboxMessage,
): Promise<InboxAnswer> {
  const session = (await liveClaudeSessions(configFolder)).find((one) => one.sessionId === sessionId);
  if (session === undefined) return { delivered: false, reason: 'session_not_listed' };
  if (session.peerProtocol !== PEER_PROTOCOL)
    return { delivered: false, reason: `version_untried: ${session.version ?? 'unknown'}` };
  if (session.status !== 'idle' && !force)
    return { delivered: false, reason: `session_${session.status ?? 'unknown'}`, deferred: true };
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
    if ((await transcriptTail(configFolder, sessionId)).includes(mark))
      return { delivered: true, proof: 'runtime_record' };
    await sleep(LOOK_MS);
  }
  return { delivered: false, reason: 'not_in_transcript' };
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
