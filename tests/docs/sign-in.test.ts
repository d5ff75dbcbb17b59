import { writeFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { freshPath, parley, startHub } from '../cli/parley.ts';
import { freePort } from '../harness/free-port.ts';
import { createVisitor } from '../harness/issuer-visit.ts';
import { startIssuer } from '../harness/start-issuer.ts';
import { blocksOf } from './page.ts';

test('the configuration on the page of signing in lets in whom it says, at a real issuer', async () => {
  const issuer = await startIssuer();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  issuer.serve(url);
  issuer.accounts.set('u-ada', { preferred_username: 'ada', groups: ['platform'] });
  issuer.accounts.set('u-eve', { preferred_username: 'eve', groups: ['sales'] });
  const secret = freshPath('oidc-secret');
  writeFileSync(secret, `${issuer.client.secret}\n`, { mode: 0o600 });
  const shown = blocksOf('docs/how-to/sign-in-with-your-companys-accounts.md').map(({ text }) => text);
  const config = freshPath('config.toml');
  writeFileSync(
    config,
    shown
      .join('\n')
      .replaceAll('https://login.example.com/realms/team', issuer.url)
      .replaceAll('client_id = "parley"', `client_id = "${issuer.client.id}"`)
      .replaceAll('/etc/parley/oidc-secret', secret)
      .replaceAll('https://desk.example.com', url)
      .replaceAll('desk.example.com', `127.0.0.1:${port}`),
  );
  const hub = await startHub(freshPath(), ['--config', config, '--port', `${port}`]);
  const ada = await createVisitor(issuer).signIn(url, 'u-ada');
  expect([ada.status, ada.headers.location]).toEqual([303, '/']);
  const eve = await createVisitor(issuer).signIn(url, 'u-eve');
  expect(eve.headers.location).toMatch(/^\/#why=/);
  const { stdout } = await parley(['device', 'ls', '--data', hub.data]);
  expect(stdout).toMatch(/\bada\b/);
  expect(stdout).not.toMatch(/\beve\b/);
  await hub.stop();
}, 120_000);
