import { type LiveLink, type Live, type Quota, rateLimited } from '@parley/core';
import {
  inTime,
  type Claims,
  decodeLive,
  HUB_NAME,
  isOperation,
  LIVE_HTTP_STATUS,
  type LiveMessage,
  LIMITS,
  ParleyError,
  toLiveError,
  fieldsOf,
  entriesOf,
} from '@parley/protocol';

import type { Deprecations } from '../../deprecations.ts';
import { serveEvents } from '../../event-stream.ts';
import { type BodyLimits, type Exchange, readJsonText, sendJson } from '../../exchange.ts';
import { requestContext } from '../../request-context.ts';
import { CLOSE } from './close-codes.ts';
import { Mailbox } from './mailbox.ts';
import type { Outgoing } from './outgoing.ts';
import type { Router } from './router.ts';
import { isWireLink, type Speaker } from './speaker.ts';

export interface FallbackOptions {
  live: Live;
  router: Router;
  outgoing: Outgoing;
  quota: Quota;
  limits: BodyLimits;
  deprecations: Deprecations;
  now: () => number;
  maxMessages: number;
  maxBytes: number;
  idleMs: number;
  recheck: (claims: Claims) => void;
  recheckMs: number;
  /** Takes one of the places that a caller has for what it keeps open, until it is given back. */
  hold: (claims: Claims) => () => void;
  waiting: Set<AbortController>;
}

/** The same conversation without a socket: messages go in by POST and come out by long poll or server-sent events. */
export interface Fallback {
  post(exchange: Exchange, claims: Claims): Promise<void>;
  get(exchange: Exchange, claims: Claims): Promise<void>;
  close(): void;
}

const WAIT_MS = 30_000;

/** Types that are answered; the others are only taken. */
const ASKING: ReadonlySet<string> = new Set(['command', 'status_request']);

export function createFallback(options: FallbackOptions): Fallback {
  const { live, router, outgoing, quota, limits, now, waiting } = options;
  const mailboxes = new Set<Mailbox>();

  function mailboxOf(claims: Claims): Mailbox {
    const known = live.session(claims);
    if (known instanceof Mailbox && known.closed === undefined) return known;
    const mailbox = new Mailbox(claims, now(), options);
    mailboxes.add(mailbox);
    live.join(mailbox);
    return mailbox;
  }

  /** A command to the hub itself is an operation, which may be to end. */
  function noticesOf({ type, target, payload }: LiveMessage): Record<string, string> | undefined {
    const { command } = fieldsOf(payload);
    if (type !== 'command' || target !== HUB_NAME || typeof command !== 'string') return undefined;
    return isOperation(command) ? options.deprecations.headers(command) : undefined;
  }

  function end(mailbox: Mailbox, reason: string): void {
    mailboxes.delete(mailbox);
    live.leave(mailbox);
    mailbox.close(CLOSE.going_away, reason);
  }

  const sweep = setInterval(
    () => {
      for (const mailbox of mailboxes)
        if (mailbox.closed !== undefined || now() - mailbox.seenAt > options.idleMs)
          end(mailbox, 'nobody fetches it');
    },
    Math.max(50, Math.min(5_000, options.idleMs / 4)),
  );
  sweep.unref();

  async function poll(exchange: Exchange, mailbox: Mailbox, query: URLSearchParams): Promise<void> {
    const after = query.get('after') ?? undefined;
    const { signal } = requestContext(exchange, waiting);
    let found = mailbox.messagesAfter(after);
    await inTime(waitOf(query), signal, async (patience) => {
      while (found.length === 0 && !patience.aborted && mailbox.closed === undefined) {
        await mailbox.changed(patience);
        mailbox.seenAt = now();
        found = mailbox.messagesAfter(after);
      }
    });
    if (mailbox.closed !== undefined) throw new ParleyError('CONFLICT', mailbox.closed);
    const messages = found.map(({ message }) => message);
    sendJson(
      exchange,
      200,
      JSON.stringify({ messages, after: found.at(-1)?.cursor ?? after ?? mailbox.head }),
    );
  }

  function stream(exchange: Exchange, mailbox: Mailbox, from: string | undefined): Promise<void> {
    const recheck = (claims: Claims): void => {
      mailbox.seenAt = now();
      options.recheck(claims);
    };
    return serveEvents(exchange, mailbox.caller, { ...options, recheck }, waiting, async (events) => {
      let after = from;
      while (!events.stop.aborted && mailbox.closed === undefined) {
        const found = mailbox.messagesAfter(after);
        const text = found.map(
          ({ cursor, message }) => `id: ${cursor}\nevent: message\ndata: ${JSON.stringify(message)}\n\n`,
        );
        if (text.length === 0) await mailbox.changed(events.stop);
        else await events.write(text.join(''));
        after = found.at(-1)?.cursor ?? after;
        mailbox.acknowledge(after);
      }
    });
  }

  return {
    async post(exchange, claims) {
      const text = await readJsonText(exchange, limits.bytes);
      let message: LiveMessage;
      try {
        message = decodeLive(text, limits, now());
      } catch (error) {
        spend(quota, claims);
        return sendMessage(exchange, outgoing.error(toLiveError(error), claims.agent_id));
      }
      exchange.notices = noticesOf(message);
      if (!router.isAnswer(claims, message)) spend(quota, claims);
      const answer = await ask(exchange, claims, message);
      if (answer !== undefined) sendMessage(exchange, answer);
      else sendJson(exchange, 202, '{"accepted":true}');
    },
    async get(exchange, claims) {
      const query = new URLSearchParams(exchange.query);
      const mailbox = mailboxOf(claims);
      mailbox.seenAt = now();
      const { accept = '', 'last-event-id': last } = exchange.request.headers;
      const after = typeof last === 'string' ? last : (query.get('after') ?? undefined);
      mailbox.acknowledge(after);
      if (accept.includes('text/event-stream')) return stream(exchange, mailbox, after);
      const leave = options.hold(claims);
      try {
        await poll(exchange, mailbox, query);
      } finally {
        leave();
      }
    },
    close() {
      clearInterval(sweep);
      for (const mailbox of mailboxes) end(mailbox, 'the hub is stopping');
    },
  };

  /** The first answer to a message; later ones go to the mailbox. */
  async function ask(
    exchange: Exchange,
    claims: Claims,
    message: LiveMessage,
  ): Promise<LiveMessage | undefined> {
    const { signal } = requestContext(exchange, waiting);
    let answered: (answer: LiveMessage | undefined) => void = () => {};
    const answer = new Promise<LiveMessage | undefined>((resolve) => (answered = resolve));
    let open = true;
    const speaker: Speaker = {
      caller: claims,
      get listening() {
        return open && !signal.aborted;
      },
      reply(reply) {
        const link = live.session(claims);
        if (open) answered(reply);
        else if (isWireLink(link)) link.say(reply);
        open = false;
      },
      link: (): LiveLink => mailboxOf(claims),
      signal,
    };
    signal.addEventListener('abort', () => answered(undefined));
    await router.receive(speaker, message);
    if (!ASKING.has(message.type)) answered(undefined);
    const first = await answer;
    open = false;
    return first;
  }
}

function spend(quota: Quota, { workspace_id, agent_id }: Claims): void {
  const wait = quota.take(`${workspace_id} ${agent_id}`);
  if (wait > 0) throw rateLimited('too many messages', wait);
}

function sendMessage(exchange: Exchange, message: LiveMessage): void {
  const { code } = fieldsOf(message.payload);
  const known = entriesOf(LIVE_HTTP_STATUS).find(([name]) => name === code)?.[1] ?? 502;
  const status = message.type === 'error' ? known : 200;
  sendJson(exchange, status, JSON.stringify(message));
}

function waitOf(query: URLSearchParams): number {
  const text = query.get('wait_ms') ?? String(WAIT_MS);
  const wait = Number(text);
  if (!/^\d{1,7}$/.test(text) || wait > LIMITS.wait_max_ms)
    throw new ParleyError('VALIDATION_ERROR', `wait_ms: must be from 0 to ${LIMITS.wait_max_ms}`, {
      field: 'wait_ms',
    });
  return wait;
}
