import type { Invitations } from '@parley/core';
import { type Claims, DeviceName, ParleyError } from '@parley/protocol';
import * as z from 'zod';

import { allow } from '../../allow.ts';
import { writeDeviceCookie } from '../../auth/device-cookie.ts';
import type { Devices } from '../../auth/devices.ts';
import { isSameOrigin } from '../../auth/same-origin.ts';
import type { SignInTries } from '../../auth/sign-in-tries.ts';
import { TokenRefused } from '../../auth/token-refused.ts';
import { type BodyLimits, type Exchange, HttpRefusal, readJsonBody, sendJson } from '../../exchange.ts';
import { SAFE_HEADERS } from '../../send-file.ts';

export interface SessionOptions {
  devices: Devices;
  invitations: Invitations;
  tries: SignInTries;
  /** How the issuer is called at which people sign in; undefined where there is none. */
  signInAt?: string | undefined;
  limits: BodyLimits;
  version: string;
  /** How a person types this program where the hub runs. */
  command: string;
  /** Signs a device out for good. */
  revoke: (claims: Claims, deviceId: string, exchange: Exchange) => Promise<unknown>;
}

const Enter = z.object({ workspace_id: z.string().max(200) });

const SignIn = z.object({ word: z.string().min(1).max(200), name: DeviceName.optional() });

/** `/session`: a device signs in with its one-use word, asks who it is, and signs out. */
export async function serveSession(exchange: Exchange, options: SessionOptions): Promise<void> {
  const { request } = exchange;
  allow(request.method, ['GET', 'POST', 'PUT', 'DELETE']);
  if (request.method === 'POST') return signIn(exchange, options);
  const claims = await identify(exchange, options);
  if (request.method === 'PUT') return enterWorkspace(exchange, options, claims);
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

/** Who asks; who is nobody learns where to sign in. */
async function identify({ request }: Exchange, { devices, signInAt }: SessionOptions): Promise<Claims> {
  try {
    const claims = await devices.identify(request);
    if (claims === undefined) throw new TokenRefused('no device');
    return claims;
  } catch (error) {
    if (!(error instanceof TokenRefused) || signInAt === undefined) throw error;
    throw new HttpRefusal(401, 'UNAUTHORIZED', error.message, {}, { sign_in_at: signInAt });
  }
}

/** Lets a person whom an issuer signed in go on in another of their workspaces; the device there takes the place of this one. */
async function enterWorkspace(exchange: Exchange, options: SessionOptions, claims: Claims): Promise<void> {
  const { request } = exchange;
  const { devices } = options;
  options.tries.count(request);
  const parsed = Enter.safeParse(await readJsonBody(exchange, options.limits));
  const person = devices.grantOf(claims)?.person;
  const place = person?.places.find(({ workspace_id }) => workspace_id === parsed.data?.workspace_id);
  if (person === undefined || place === undefined)
    throw new ParleyError('FORBIDDEN', 'workspace_id: is none that your sign-in gives you');
  const grant = { person: { ...person, workspace_id: place.workspace_id }, devices: [] };
  const name = (await devices.find(claims.session_id))?.name ?? 'Browser';
  const admitted = await devices.admit({ ...place, agent_id: person.name, name: undefined, grant }, name);
  if (admitted === undefined) throw new TokenRefused('the person was signed out');
  await devices.leave(claims);
  sendJson(exchange, 200, '{"ok":true}', {
    ...SAFE_HEADERS,
    'set-cookie': writeDeviceCookie(request, admitted.secret),
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
  const invitation = await options.invitations.redeem(word);
  const admitted = invitation && (await options.devices.admit(invitation, name));
  if (admitted === undefined)
    throw new HttpRefusal(
      401,
      'UNAUTHORIZED',
      'this link or code is not good any more; get another with: parley link, or parley pair',
    );
  const { device, secret } = admitted;
  const { agent_id, workspace_id, device_id } = device;
  const reported = {
    agent_id,
    workspace_id,
    device_id,
    device_name: device.name,
    read_only: device.read_only,
  };
  sendJson(
    exchange,
    201,
    JSON.stringify({ ...reported, version: options.version, command: options.command }),
    {
      ...SAFE_HEADERS,
      'set-cookie': writeDeviceCookie(request, secret),
    },
  );
}

async function tellWho(
  exchange: Exchange,
  { devices, version, command, signInAt }: SessionOptions,
  claims: Claims,
): Promise<void> {
  const { agent_id, workspace_id, session_id: device_id, read_only = false } = claims;
  const device_name = (await devices.find(device_id))?.name ?? device_id;
  const places = devices.grantOf(claims)?.person?.places;
  const workspaces = places?.map((place) => place.workspace_id);
  const reported = {
    agent_id,
    workspace_id,
    device_id,
    device_name,
    read_only,
    version,
    command,
    ...(workspaces === undefined ? {} : { workspaces }),
    ...(signInAt === undefined ? {} : { sign_in_at: signInAt }),
  };
  sendJson(exchange, 200, JSON.stringify(reported), SAFE_HEADERS);
}
