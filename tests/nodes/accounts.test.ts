import { afterAll, beforeAll, expect, test } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { createVisitor } from '../harness/issuer-visit.ts';
import { runCli } from '../harness/run-cli.ts';
import { send } from '../harness/send.ts';
import { type HubProcess, startHub } from '../harness/start-hub.ts';
import { oidcEnv, oidcSettings, startIssuer, type TestIssuer } from '../harness/start-issuer.ts';
import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { issueToken } from '../harness/tokens.ts';
import { succeeded } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { dial, refusal, registration } from '../ws/live-client.ts';

describeWith(['postgres'], 'accounts of an issuer at two hubs', () => {
  let issuer: TestIssuer;
  let postgres: PostgresServer;
  const hubs: HubProcess[] = [];
  beforeAll(async () => {
    [issuer, postgres] = await Promise.all([startIssuer(), startPostgres()]);
    // Behind one address, tokens are for that address whichever node they reach.
    const settings = { ...oidcSettings(issuer), 'oidc.audience': 'parley' };
    for (let i = 0; i < 2; i++)
      hubs.push(await startHub({ settings, env: oidcEnv(issuer), flags: ['--store', postgres.url] }));
    issuer.serve(hubs[0]?.url ?? '');
    for (const name of ['ada', 'bea'])
      issuer.accounts.set(`u-${name}`, { preferred_username: name, groups: ['staff'] });
  }, 120_000);
  afterAll(async () => {
    for (const hub of hubs) await hub.stop();
    await postgres.close();
  }, 60_000);

  const urlOf = (node: number): string => hubs[node]?.url ?? '';
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  async function accessToken(): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    const { accounts, url } = issuer;
    const claims = { iss: url, aud: 'parley', sub: 'u-ada', client_id: 'c', iat: now, exp: now + 600 };
    return issuer.sign({ ...claims, jti: `t-${Math.random()}`, ...accounts.get('u-ada') });
  }

  /** The issuer tells the first node that an account was signed out. */
  async function signOut(sub: string): Promise<void> {
    const now = Math.floor(Date.now() / 1_000);
    const notice = await issuer.sign(
      {
        iss: issuer.url,
        aud: issuer.client.id,
        sub,
        iat: now,
        exp: now + 60,
        jti: `out-${Math.random()}`,
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      },
      { header: { typ: 'logout+jwt' } },
    );
    const told = await send(`${urlOf(0)}/session/ended`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token: notice }).toString(),
    });
    expect([told.status, told.text]).toEqual([200, expect.anything()]);
  }

  /** Whoever bears a token lets a device in; how the second node answers the device. */
  async function deviceOf(token: string): Promise<() => Promise<number>> {
    const made = await send(`${urlOf(0)}/v1/pair_device`, {
      method: 'POST',
      headers: { ...bearer(token), 'content-type': 'application/json' },
      body: '{}',
    });
    const { code } = JSON.parse(made.text) as { code: string };
    const site = { origin: urlOf(1), 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
    const body = JSON.stringify({ word: code, name: 'phone' });
    const paired = await send(`${urlOf(1)}/session`, { method: 'POST', headers: site, body });
    const cookie = String(paired.headers['set-cookie']?.[0]).split(';')[0] ?? '';
    return () => lookWith(cookie);
  }

  /** How the second node answers a device. */
  async function lookWith(cookie: string): Promise<number> {
    const site = { origin: urlOf(1), 'sec-fetch-site': 'same-origin' };
    return (await send(`${urlOf(1)}/session`, { headers: { ...site, cookie } })).status;
  }

  async function ticketOf(token: string): Promise<string> {
    const issued = await send(`${urlOf(0)}/v1/ws_ticket`, { method: 'POST', headers: bearer(token) });
    expect(issued.status).toBe(200);
    return (JSON.parse(issued.text) as { ticket: string }).ticket;
  }

  const redeem = (ticket: string) =>
    dial(urlOf(1), 'ada', undefined, { query: `?version=1.0&token=${ticket}` });

  test('[R12] whoever came to one node with a token of the issuer is known at another by a ticket, and not after the sign-out', async () => {
    const token = await accessToken();
    const [mine, kept] = [await ticketOf(token), await ticketOf(token)];
    const link = await redeem(mine);
    const { agent_id } = succeeded(await v1Driver.call(urlOf(1), token, 'whoami', {}));
    expect(agent_id).toContain('ada');
    // It is the person's link there, under the person's name.
    const asked = { command: 'register_agent', parameters: registration };
    const id = link.say('command', 'parley', asked, { source: agent_id });
    const answer = await link.until(({ payload }) => payload?.requestId === id);
    expect(answer).toMatchObject({ type: 'command_response', payload: { success: true } });
    // The account is signed out at the first node: a ticket from before opens nothing at the second.
    await signOut('u-ada');
    expect((await refusal(redeem(kept))).status).toBe(401);
    expect((await link.closed).code).toBeGreaterThan(0);
  }, 60_000);

  test('[R12] a device whose token is revoked at one node is out at the other from the next request on', async () => {
    const { token, jti } = await issueToken(
      { agent: 'boss', role: 'operator' },
      { data: hubs[0]?.data ?? '' },
    );
    const look = await deviceOf(token);
    expect(await look()).toBe(200);
    const { code: ended } = await runCli(['token', 'revoke', jti], { data: hubs[0]?.data ?? '' });
    expect(ended).toBe(0);
    expect(await look()).toBe(401);
  }, 60_000);

  test('[R12] a device of an account that is signed out at one node is out at the other from the next request on', async () => {
    const visitor = createVisitor(issuer);
    expect((await visitor.signIn(urlOf(0), 'u-bea')).headers.location).toBe('/');
    // Behind one address both nodes have one port, and the cookie its name.
    const [from, to] = [urlOf(0), urlOf(1)].map((url) => new URL(url).port);
    const cookie = visitor.cookies(urlOf(0)).replaceAll(`parley-${from}=`, `parley-${to}=`);
    expect(await lookWith(cookie)).toBe(200);
    await signOut('u-bea');
    expect(await lookWith(cookie)).toBe(401);
  }, 60_000);
});
