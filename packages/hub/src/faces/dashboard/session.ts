import type { Invitations } from '@parley/core';
import { type Claims, DeviceName, ParleyError } from '@parley/protocol';
import { z } from 'zod';

import { allow } from '../../allow.ts';
import { writeDeviceCookie } from '../../auth/device-cookie.ts';
import type { Devices } from '../../auth/devices.ts';
import { isSameOrigin } from '../../auth/same-origin.ts';
import type { SignInTries } from '../../auth/sign-in-tries.ts';
import { TokenRefused } from '../../auth/token-refused.ts';
import { type BodyLimits, type Exchange, HttpRefusal, readJsonBody, sendJson } from '../../exchange.ts';
import { SAFE_HEADERS } from './send-file.ts';

export interface SessionOptions {
  devices: Devices;
  invitations: Invitations;
  tries: SignInTries;
  limits: BodyLimits;
  version: string;
  /** How a person types this program where the hub runs. */
  command: string;
  /** Signs a device out for good. */
  revoke: (claims: Claims, deviceId: string, exchange: Exchange) => Promise<unknown>;
}

const SignIn = z.object({ word: z.string().min(1).max(200), name: DeviceName.optional() });

/** `/session`: a device signs in with its one-use word, asks who it is, and signs out. */
export async function serveSession(exchange: Exchange, options: SessionOptions): Promise<void> {
  const { request } = exchange;
  allow(request.method, ['GET', 'POST', 'DELETE']);
  if (request.method === 'POST') return signIn(exchange, options);
  const claims = await options.devices.identify(request);
  if (claims === undefined) throw new TokenRefused('no device');
  if (request.method === 'GET') return tellWho(exchange, options, claims);
  // A read-only device may change nothing, but it may always leave.
  const { read_only: _limit, ...leaving } = claims;
  await options.revoke(leaving, claims.session_id, exchange);
  sendJson(exchange, 200, '{"ok":true}', {
    ...SAFE_HEADERS,
    'set-cookie': writeDeviceCookie(request, ''),
    'clear-site-data': '"cache", "storage"',
  });
}

async function signIn(exchange: Exchange, options: SessionOptions): Promise<void> {
  const { request } = exchange;
  if (!isSameOrigin(request)) throw new HttpRefusal(403, 'FORBIDDEN', 'sign in from the hub’s own page');
  options.tries.count(request);
  const parsed = SignIn.safeParse(await readJsonBody(exchange, options.limits));
  if (!parsed.success)
    throw new ParleyError('VALIDATION_ERROR', 'word: the code or the key of a link is needed', {
      field: 'word',
    });
  const { word, name = 'Browser' } = parsed.data;
  options.tries.countWord(word);
  const invitation = options.invitations.redeem(word);
  const admitted = invitation && (await options.devices.admit(invitation, name));
  if (admitted === undefined)
    throw new HttpRefusal(
      401,
      'UNAUTHORIZED',
      'this link or code is not good any more; get another with: parley link, or parley pair',
    );
  const { device, secret } = admitted;
  const { agent_id, workspace_id, device_id } = device;
  const told = { agent_id, workspace_id, device_id, device_name: device.name, read_only: device.read_only };
  sendJson(exchange, 201, JSON.stringify({ ...told, version: options.version, command: options.command }), {
    ...SAFE_HEADERS,
    'set-cookie': writeDeviceCookie(request, secret),
  });
}

async function tellWho(
  exchange: Exchange,
  { devices, version, command }: SessionOptions,
  claims: Claims,
): Promise<void> {
  const { agent_id, workspace_id, session_id: device_id, read_only = false } = claims;
  const device_name = (await devices.find(device_id))?.name ?? device_id;
  const told = { agent_id, workspace_id, device_id, device_name, read_only, version, command };
  sendJson(exchange, 200, JSON.stringify(told), SAFE_HEADERS);
}
