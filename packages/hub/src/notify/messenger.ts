import { createHmac } from 'node:crypto';

import type { ChannelRecord, Messenger, Notice, NoticeOutcome } from '@parley/core';

import { type HttpReply, type Outgoing, whyNot } from './outgoing.ts';
import type { PushKeys } from './push-keys.ts';

export interface MessengerOptions {
  outgoing: Outgoing;
  keys: PushKeys;
  /** Where the dashboard is found from outside. */
  address: () => string;
  /** Whom a push service may ask about this hub: a mailto: or https: address. */
  contact: string;
  now: () => number;
}

interface OutgoingRequest {
  url: string;
  headers: Record<string, string>;
  body: string | Buffer;
}

/** How long a push service keeps what a device is not there for: an ask is over by then. */
const PUSH_TTL_SECONDS = 3_600;

/** Carries notifications to browsers, ntfy servers and webhooks. */
export function createMessenger(options: MessengerOptions): Messenger {
  const write = { push: toPush, ntfy: toNtfy, webhook: toWebhook };
  return {
    pushKey: options.keys.publicKey,
    refusal: ({ url }) => options.outgoing.refusal(url),
    async send(channel, notice, badge) {
      try {
        const { url, headers, body } = await write[channel.kind](options, channel, notice, badge);
        return toOutcome(channel, await options.outgoing.post(url, headers, body));
      } catch (error) {
        return { sent: false, ...whyNot(error) };
      }
    },
  };
}

function toOutcome({ kind }: ChannelRecord, { status, retryAfterMs }: HttpReply): NoticeOutcome {
  if (status >= 200 && status < 300) return { sent: true };
  const why =
    status >= 300 && status < 400
      ? `it answered ${status}: redirects are not followed`
      : `it answered ${status}`;
  if (kind === 'push' && (status === 404 || status === 410)) return { sent: false, why, gone: true };
  const again = status >= 500 || status === 408 || status === 425 || status === 429;
  return {
    sent: false,
    why,
    final: !again,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
  };
}

/** The declarative form: a browser shows it also where no worker of ours runs. */
async function toPush(
  { keys, contact, address }: MessengerOptions,
  channel: ChannelRecord,
  notice: Notice,
  badge: number,
): Promise<OutgoingRequest> {
  const { target } = channel;
  const { title, body, path, tag, subject } = notice;
  const payload = {
    web_push: 8030,
    notification: {
      title,
      body,
      navigate: new URL(path, address()).href,
      tag,
      lang: 'en',
      data: { path, kind: notice.kind, urgency: notice.urgency, ...subject },
    },
    app_badge: badge,
  };
  const subscription = {
    endpoint: target.url,
    keys: { p256dh: target.p256dh ?? '', auth: target.auth ?? '' },
  };
  const { default: webPush } = await import('web-push');
  const details = webPush.generateRequestDetails(subscription, JSON.stringify(payload), {
    vapidDetails: { subject: contactOf(contact, address()), ...keys },
    TTL: PUSH_TTL_SECONDS,
    contentEncoding: 'aes128gcm',
    urgency: notice.urgency,
    topic: topicOf(notice),
  });
  const { 'Content-Length': _length, ...headers } = details.headers;
  return { url: details.endpoint, headers: asText(headers), body: details.body };
}

/** What waits at the push service is replaced by what is newer: at most 32 letters of base64url. */
function topicOf({ tag }: Notice): string {
  return tag.replaceAll(/[^\w-]/g, '_').slice(-32);
}

function contactOf(contact: string, address: string): string {
  if (contact !== '') return contact;
  return address.startsWith('https://') ? address : 'mailto:parley@example.com';
}

function toNtfy({ address }: MessengerOptions, { target }: ChannelRecord, notice: Notice): OutgoingRequest {
  const url = new URL(target.url);
  const topic = url.pathname.slice(1);
  const link = new URL(notice.path, address()).href;
  const message = {
    topic,
    title: notice.title,
    message: notice.body,
    priority: notice.urgency === 'high' ? 4 : 3,
    tags: [notice.kind === 'trouble' ? 'warning' : notice.kind === 'ask' ? 'raising_hand' : 'speech_balloon'],
    click: link,
    actions: [{ action: 'view', label: notice.kind === 'ask' ? 'Review' : 'Open', url: link }],
  };
  return {
    url: url.origin,
    headers: {
      'content-type': 'application/json',
      ...(target.token === undefined ? {} : { authorization: `Bearer ${target.token}` }),
    },
    body: JSON.stringify(message),
  };
}

function toWebhook(
  { address, now }: MessengerOptions,
  { target, secret = '' }: ChannelRecord,
  notice: Notice,
): OutgoingRequest {
  const { notice_id, workspace_id, kind, title, body, path, urgency, subject, created_at } = notice;
  const text = JSON.stringify({
    id: notice_id,
    kind,
    workspace_id,
    title,
    body,
    url: new URL(path, address()).href,
    urgency,
    ...subject,
    at: created_at,
  });
  const moment = String(Math.floor(now() / 1_000));
  const signature = createHmac('sha256', secret).update(`${moment}.${text}`).digest('hex');
  return {
    url: target.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Parley',
      'parley-id': notice_id,
      'parley-timestamp': moment,
      'parley-signature': `sha256=${signature}`,
    },
    body: text,
  };
}

function asText(headers: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
