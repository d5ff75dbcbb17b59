import { hideSecrets } from '@parley/protocol';

// oxlint-disable-next-line eslint/no-control-regex
const ANSI = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i;
const SHORTEST_SECRET = 8;

/** Makes a child's text fit for a log: no token, none of the secrets it was given by its environment, no colours. */
export function createRedactor(env: Readonly<Record<string, string>>): (text: string) => string {
  const given = Object.entries(env)
    .filter(([name, value]) => SECRET_NAME.test(name) && value.length >= SHORTEST_SECRET)
    .map(([, value]) => value);
  return (text) => {
    let clean = text.replaceAll(ANSI, '');
    for (const secret of given) clean = clean.replaceAll(secret, '[redacted]');
    return hideSecrets(clean);
  };
}
