import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';

import { expect, onTestFinished, test } from 'vitest';

import { lanCertificate, LAN_FILE } from './own-authority.ts';

const DAY_MS = 86_400_000;
const NOW = Date.now();

function folder(): string {
  const data = mkdtempSync(join(tmpdir(), 'parley-lan-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  return data;
}

const served = (chain: string): X509Certificate => new X509Certificate(chain);

/** What a client that trusts the authority makes of a server with this certificate. */
async function tried(names: readonly string[], servername: string): Promise<string> {
  const { chain, key, authority } = lanCertificate(folder(), 'desk', names, NOW);
  const server = createServer({ cert: chain, key }, (socket) => socket.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect({ host: '127.0.0.1', port, servername, ca: authority.toString() });
  const said = await new Promise<string>((resolve) => {
    client.on('secureConnect', () => resolve('trusted')).on('error', (error) => resolve(error.message));
  });
  client.destroy();
  server.close();
  return said;
}

test('the authority is made once, kept for its owner alone, and vouches for local names and no others', async () => {
  const data = folder();
  const first = lanCertificate(data, 'desk', ['desk.local', '192.168.1.20'], NOW);
  expect(statSync(join(data, LAN_FILE)).mode & 0o777).toBe(0o600);
  expect(first.authority.ca).toBe(true);
  expect(served(first.chain).checkIssued(first.authority)).toBe(true);
  expect(served(first.chain).subjectAltName).toBe('DNS:desk.local, IP Address:192.168.1.20');
  expect(lanCertificate(data, 'desk', ['desk.local', '192.168.1.20'], NOW + DAY_MS).chain).toBe(first.chain);
  expect(await tried(['desk.local'], 'desk.local')).toBe('trusted');
  expect(await tried(['desk.local'], 'other.local')).toContain('does not match');
  expect(await tried(['bank.example'], 'bank.example')).toContain('permitted subtree violation');
  expect(await tried(['desk.local', '8.8.8.8'], 'desk.local')).toContain('permitted subtree violation');
});

test('the certificate of the server is made anew near its end or for another address, by the same authority', () => {
  const data = folder();
  const first = lanCertificate(data, 'desk', ['desk.local', '192.168.1.20'], NOW);
  const moved = lanCertificate(data, 'desk', ['desk.local', '192.168.1.21'], NOW);
  expect(served(moved.chain).subjectAltName).toContain('192.168.1.21');
  const renewed = lanCertificate(data, 'desk', ['desk.local', '192.168.1.21'], NOW + 61 * DAY_MS);
  expect(renewed.chain).not.toBe(moved.chain);
  for (const { authority } of [moved, renewed])
    expect(authority.fingerprint256).toBe(first.authority.fingerprint256);
  const span = Date.parse(served(renewed.chain).validTo) - Date.parse(served(renewed.chain).validFrom);
  expect(span).toBeLessThan(91 * DAY_MS);
});

test('a damaged file is refused and left alone: a new authority would lock every device out', () => {
  const data = folder();
  writeFileSync(join(data, LAN_FILE), '{"authority":', { mode: 0o600 });
  expect(() => lanCertificate(data, 'desk', ['desk.local'], NOW)).toThrow(/move it away/);
  expect(readFileSync(join(data, LAN_FILE), 'utf8')).toBe('{"authority":');
});
