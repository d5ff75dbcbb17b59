import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { type HubOptions, type HubProcess, HubRefused, startHub } from '../harness/start-hub.ts';

const NAME = 'desk-of-tests.local';
const ADDRESS = '127.0.0.2';
const LAN: HubOptions = {
  flags: ['--lan'],
  settings: { 'lan.address': ADDRESS, 'lan.name': NAME, 'lan.port': 0, 'lan.setup_port': 0 },
};

interface Asked {
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  ca?: string;
  /** As whom the server must show itself. */
  servername?: string;
}

/** One request to an address, with the headers as they are. */
function ask(url: string, { path = '/healthz', method = 'GET', headers = {}, ca, servername }: Asked = {}) {
  const { protocol, hostname, port } = new URL(url);
  const send = protocol === 'https:' ? request : plainRequest;
  return new Promise<{ status: number; type: string; body: string }>((resolve, reject) => {
    const options = {
      hostname,
      port,
      path,
      method,
      headers,
      ca,
      ...(servername && { servername }),
      agent: false,
    };
    send(options, (response) => {
      let body = '';
      response
        .setEncoding('latin1')
        .on('data', (text: string) => (body += text))
        .on('end', () =>
          resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', body }),
        );
    })
      .on('error', reject)
      .end();
  });
}

function lanOf({ lan }: HubProcess): NonNullable<HubProcess['lan']> {
  if (lan === undefined) throw new Error('the hub is not on the local network');
  return lan;
}

test('--lan: the desk under its name and address with a certificate of its own, and under no other name', async () => {
  const hub = await startHub(LAN);
  const { url, named, setup } = lanOf(hub);
  const { port } = new URL(url);
  const { body: ca } = await ask(setup, { path: '/parley.pem' });
  expect(new URL(hub.url).hostname).toBe('127.0.0.1');
  expect(named).toBe(`https://${NAME}:${port}`);
  await expect(ask(url)).rejects.toThrow(/self-signed certificate|unable to (?:get|verify)/);
  expect(await ask(url, { ca })).toMatchObject({ status: 200 });
  const byName = { ca, servername: NAME, headers: { host: `${NAME}:${port}` } };
  expect(await ask(url, byName)).toMatchObject({ status: 200 });
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `evil.example:${port}`, `x.${NAME}:${port}`])
    expect([host, (await ask(url, { ca, servername: NAME, headers: { host } })).status]).toEqual([host, 403]);
  const own = new URL(hub.url).port;
  const foreign = [
    `http://${ADDRESS}:${port}`,
    hub.url,
    `https://${ADDRESS}:${own}`,
    setup,
    'https://evil.example',
  ];
  for (const origin of foreign)
    expect([origin, (await ask(url, { ca, headers: { origin } })).status]).toEqual([origin, 403]);
  for (const origin of [url, named])
    expect([origin, (await ask(url, { ca, headers: { origin } })).status]).toEqual([origin, 200]);
  // What is for the network is not for the loopback address, and the other way round.
  expect((await ask(hub.url, { headers: { host: `${NAME}:${own}` } })).status).toBe(403);
  expect((await ask(hub.url)).status).toBe(200);
  const described = await ask(url, { ca, path: '/v1/openapi.json' });
  expect(described.body).toContain(`https://${ADDRESS}:${port}`);
  expect(await hub.stop()).toBe(0);
});

test('--lan: the plain page gives out the certificate and how to install it, and nothing else', async () => {
  const hub = await startHub(LAN);
  const { url, setup, fingerprint } = lanOf(hub);
  const page = await ask(setup, { path: '/' });
  expect(page).toMatchObject({ status: 200, type: 'text/html; charset=utf-8' });
  for (const words of [
    'iPad and iPhone',
    'Certificate Trust Settings',
    'Android',
    'Windows',
    fingerprint,
    url,
  ])
    expect(page.body).toContain(words);
  const types: Record<string, string> = {
    '/parley.mobileconfig': 'application/x-apple-aspen-config',
    '/parley.crt': 'application/x-x509-ca-cert',
    '/parley.pem': 'application/x-pem-file',
  };
  const { authority } = JSON.parse(readFileSync(join(hub.data, 'lan.json'), 'utf8')) as {
    authority: { cert: string; key: string };
  };
  const secret = authority.key.split('\n')[1] ?? 'none';
  for (const [path, type] of Object.entries(types)) {
    const got = await ask(setup, { path });
    expect([path, got.status, got.type]).toEqual([path, 200, type]);
    expect(got.body).not.toContain('PRIVATE');
    expect(got.body).not.toContain(secret);
  }
  expect((await ask(setup, { path: '/parley.mobileconfig' })).body).toContain(
    authority.cert.replaceAll(/-----[A-Z ]+-----|\n/g, ''),
  );
  for (const path of ['/now', '/assets', '/session', '/mcp', '/lan.json', '/../lan.json', '/constructor'])
    expect([path, (await ask(setup, { path })).status]).toEqual([path, 404]);
  expect((await ask(setup, { path: '/', method: 'POST' })).status).toBe(405);
  expect((await ask(setup, { path: '/', headers: { host: 'evil.example' } })).status).toBe(403);
  await hub.stop();
  // The same authority after a restart: no device has to install it again.
  const again = await startHub({ ...LAN, data: hub.data });
  expect(lanOf(again).fingerprint).toBe(fingerprint);
  await again.stop();
});

test('without --lan nothing listens but loopback; a name or an address of the Internet is refused', async () => {
  const hub = await startHub();
  expect(hub.lan).toBeUndefined();
  await expect(ask(`http://${ADDRESS}:${new URL(hub.url).port}`)).rejects.toThrow('ECONNREFUSED');
  await hub.stop();
  for (const wrong of [{ 'lan.address': '8.8.8.8' }, { 'lan.name': 'bank.example' }]) {
    const refused = startHub({ ...LAN, settings: { ...LAN.settings, ...wrong } });
    await expect(refused).rejects.toBeInstanceOf(HubRefused);
    await expect(refused).rejects.toThrow(/lan\.(?:address|name)/);
  }
});

test('a port that is forwarded as ssh -L does leads to the desk where it has the same number', async () => {
  const hub = await startHub();
  const { hostname, port } = new URL(hub.url);
  const forward = createServer((near) => {
    const far = connect(Number(port), hostname);
    near.pipe(far).pipe(near);
    for (const end of [near, far]) end.on('error', () => end.destroy());
  });
  forward.listen(Number(port), '127.0.0.3');
  await once(forward, 'listening');
  // The browser at the other end types its own loopback address.
  const there = `http://127.0.0.3:${port}`;
  expect((await ask(there, { headers: { host: `127.0.0.1:${port}` } })).status).toBe(200);
  expect((await ask(there, { headers: { host: '127.0.0.1:9999' } })).status).toBe(403);
  forward.close();
  await hub.stop();
});
