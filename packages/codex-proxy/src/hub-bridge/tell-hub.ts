import { isControlFrame, type SeenMail } from '@parley/mail';
import { seqOfMessageId, fieldsOf, errorStatus, errorCode, errorText } from '@parley/protocol';

import { clip } from '@parley/runtimes';
import type { BridgeDeps } from './bridge-deps.ts';
import { digestOf, hubNameOf } from './bridge-names.ts';
import type { PairThreads, Party } from './pair-threads.ts';
import { bodyOf } from './wording.ts';

/** Tells the hub what came to one inbox since the last time, in its order. */
export async function tellHub(deps: BridgeDeps, pairs: PairThreads, inbox: string): Promise<void> {
  const { mail, file, stopping } = deps;
  const { told } = file.state;
  while (!stopping.aborted) {
    const from = told[inbox] ?? 0;
    const { mails, next } = await mail.history(inbox, from);
    for (const one of mails) {
      if (isForHub(deps, one)) await tellMail(deps, pairs, inbox, one);
      told[inbox] = one.end;
      file.saveSoon();
    }
    if (next === from) return;
    told[inbox] = next;
    file.saveSoon();
  }
}

/** Mail of this team's own agents since the link was made; what came from the hub never goes back. */
function isForHub({ team, file }: BridgeDeps, mail: SeenMail): boolean {
  const { linked_at, peers } = file.state;
  const isFromHub = seqOfMessageId(mail.message_id) !== undefined || peers[mail.from] !== undefined;
  const isOfOthers = mail.source_team !== undefined && mail.source_team !== team;
  return !isFromHub && !isOfOthers && mail.seen_at >= linked_at && !isControlFrame(mail.message);
}

async function tellMail(deps: BridgeDeps, pairs: PairThreads, inbox: string, mail: SeenMail): Promise<void> {
  const { team, counts, log } = deps;
  const peer = deps.file.state.peers[inbox];
  const sender: Party = { hubName: hubNameOf(team, mail.from), name: mail.from, isOurs: true };
  const reader: Party =
    peer === undefined
      ? { hubName: hubNameOf(team, inbox), name: inbox, isOurs: true }
      : { hubName: peer.agent, name: peer.agent, isOurs: false };
  const post = createPost(deps, inbox, mail, sender.hubName);
  try {
    const came =
      peer === undefined ? undefined : await answerPlace(deps, inbox, mail, peer.threads[mail.from]);
    const isSaid = came !== undefined && (await sayIn(post, came, reader.hubName));
    if (!isSaid) await sayInPair(post, pairs, sender, reader);
    counts.to_hub += 1;
    if (post.cut) counts.cut += 1;
    if (peer !== undefined) await deps.mail.markRead(inbox, [mail.message_id]);
  } catch (error) {
    if (errorStatus(error) === undefined) throw error;
    counts.refused += 1;
    log('warn', 'the hub did not take a mail', {
      message_id: clip(mail.message_id, 128),
      to: inbox,
      code: errorCode(error),
      reason: errorText(error),
    });
  }
}

/** The thread of an answer, settled before it is said: after a crash it is the same, whatever was written meanwhile. */
async function answerPlace(
  { file }: BridgeDeps,
  inbox: string,
  { message_id }: SeenMail,
  came: string | undefined,
): Promise<string | undefined> {
  const { saying } = file.state;
  const before = saying[inbox];
  if (before?.message_id === message_id) return before.thread_id;
  if (came === undefined) return undefined;
  saying[inbox] = { message_id, thread_id: came };
  await file.save();
  return came;
}

interface Post {
  cut: boolean;
  /** Says it, to one or to all. */
  say(threadId: string, to: string | undefined): Promise<unknown>;
}

function createPost({ team, hubClients }: BridgeDeps, inbox: string, mail: SeenMail, sender: string): Post {
  const { body, cut } = bodyOf(mail.message, `the mail archive of ${inbox}`);
  const message_id = clip(mail.message_id, 200);
  const facts = {
    message_id,
    team,
    to: inbox,
    ...(mail.found_in === undefined ? {} : { found_in: mail.found_in }),
    ...(cut ? { cut, bytes: Buffer.byteLength(mail.message) } : {}),
  };
  const idempotency_key = `mail:${digestOf(team, inbox, mail.message_id)}`;
  return {
    cut,
    say: (thread_id, to) =>
      hubClients.as(sender, (client) =>
        client.post_message({
          thread_id,
          schema_version: 1,
          body,
          metadata: { mail: facts },
          idempotency_key,
          ...(to === undefined ? {} : { to }),
        }),
      ),
  };
}

async function sayInPair(post: Post, pairs: PairThreads, sender: Party, reader: Party): Promise<void> {
  const thread = await pairs.of(sender, reader);
  if (await sayIn(post, thread, reader.hubName)) return;
  pairs.retire(sender, reader, thread);
  await post.say(await pairs.of(sender, reader), reader.hubName);
}

/** False when the thread is closed, gone, or none of the sender's any more. */
async function sayIn(post: Post, thread: string, to: string): Promise<boolean> {
  try {
    await post.say(thread, to);
    return true;
  } catch (error) {
    const code = errorCode(error);
    const details = fieldsOf(fieldsOf(error)['details']);
    // It was said before, in other words or to others.
    if (code === 'IDEMPOTENCY_CONFLICT') return true;
    if (code === 'VALIDATION_ERROR' && details['field'] === 'to') {
      // Who steers a workspace may write where he takes no part.
      await post.say(thread, undefined);
      return true;
    }
    if (code === 'CONFLICT' || code === 'NOT_FOUND' || code === 'OUT_OF_SCOPE_WORKSPACE') return false;
    if (code === 'FORBIDDEN' && details['reason'] === undefined) return false;
    throw error;
  }
}
