import { describe, expect, test } from 'vitest';

import { hideSecrets, hideSecretsIn } from './secrets.ts';

const KEY = 'Zx81QpLm93KwVt07';
const PEM_LINES = ['MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 'BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj', 'MzEfYyjiWA4=='];
const LABEL = 'RSA PRIVATE KEY';
const PEM = [`-----BEGIN ${LABEL}-----`, ...PEM_LINES, `-----END ${LABEL}-----`].join('\n');

/** A text, and the part of it that nobody may read. */
const SECRETS: readonly (readonly [kind: string, text: string, secret: string])[] = [
  ['JWT', `see eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ4In0.${KEY}-_ there`, KEY],
  ['JWE', `eyJhbGciOiJkaXIifQ..${KEY}.abcd.efgh`, KEY],
  ['Bearer', `Bearer ${KEY}`, KEY],
  ['bearer, not a word', 'bearer swordfish-2', 'swordfish'],
  ['bearer, too long for a word', 'Bearer abcdefghijklmnop', 'abcdefghijklmnop'],
  ['bearer as a subprotocol', `parley.v1, bearer.${KEY}`, KEY],
  ['Basic', 'Authorization: Basic YWxpY2U6aHVudGVyMg==', 'YWxpY2U6'],
  ['Basic on its own', 'sent Basic YWxpY2U6aHVudGVyMg== to it', 'YWxpY2U6'],
  ['another scheme', `authorization: Custom x ${KEY}`, KEY],
  ['OpenAI', `sk-${KEY}`, KEY],
  ['OpenAI project', `sk-proj-${KEY}_${KEY}`, KEY],
  ['Anthropic', `sk-ant-api03-${KEY}-${KEY}`, KEY],
  ['Stripe', `sk_live_${KEY}`, KEY],
  ...['ghp', 'gho', 'ghs', 'ghu', 'ghr'].map((kind) => ['GitHub', `${kind}_${KEY}`, KEY] as const),
  ['GitHub, fine-grained', `github_pat_11ABC_${KEY}`, KEY],
  ['GitLab', `glpat-${KEY}`, KEY],
  ['Vault', `hvs.${KEY}`, KEY],
  ['PyPI', `pypi-${KEY}`, KEY],
  ['xAI', `xai-${KEY}`, KEY],
  ['Groq', `gsk_${KEY}`, KEY],
  ['SendGrid', `SG.${KEY}.${KEY}`, KEY],
  ['DigitalOcean', `dop_v1_0123456789abcdef0123456789abcdef`, '6789ab'],
  ['Shopify', `shpat_0123456789abcdef0123456789abcdef`, '6789ab'],
  ['Slack, an address', `https://hooks.slack.com/services/T00000000/B00000000/${KEY}`, KEY],
  ['AWS, told', 'aws configure set aws_secret_access_key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'wJalr'],
  ['sshpass', 'sshpass -p hunter2xyz ssh host', 'hunter2'],
  ['Slack', `xoxb-123456-${KEY}`, KEY],
  ['npm', `npm_${KEY}${KEY}abcd`, KEY],
  ['Google', `AIzaSy${KEY}${KEY}x`, KEY],
  ['AWS id', 'AKIAIOSFODNN7EXAMPLE', 'IOSFODNN7'],
  ['AWS id of a session', 'ASIAIOSFODNN7EXAMPLE', 'IOSFODNN7'],
  ['AWS secret', 'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'wJalr'],
  ['AWS secret in JSON', '{"SecretAccessKey": "/JalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}', 'JalrXU'],
  ['AWS pair', 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'wJalr'],
  ['AWS token', `AWS_SESSION_TOKEN=${KEY}//${KEY}`, KEY],
  ['PEM', `key:\n${PEM}\nend`, PEM_LINES[1] ?? ''],
  ['PEM on one line', PEM.replaceAll('\n', ' '), PEM_LINES[1] ?? ''],
  ['PEM in JSON', JSON.stringify({ a: PEM }), PEM_LINES[1] ?? ''],
  ['PEM in JSON in JSON', JSON.stringify({ a: JSON.stringify({ a: PEM }) }), PEM_LINES[1] ?? ''],
  ['PEM without its end', PEM.slice(0, 100), PEM_LINES[0] ?? ''],
  ['PEM without its beginning', `${PEM_LINES.join('\n')}\n-----END ${LABEL}-----`, PEM_LINES[0] ?? ''],
  ['PEM, encrypted', PEM.replace('MII', 'Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB\n\nMII'), 'EvQI'],
  ['shell', 'export DB_PASSWORD=hunter2', 'hunter2'],
  ['shell, quoted', "PASSWD='correct horse' next", 'horse'],
  ['shell, short', 'SMTP_PASS=hunter2', 'hunter2'],
  ['a flag', 'mysql --password hunter2 db', 'hunter2'],
  ['a flag with =', `gh --auth-token=${KEY} x`, KEY],
  ['ini', 'password = hunter2', 'hunter2'],
  ['a letter $', 'password=$ecret1', 'ecret1'],
  ['a comma', 'password=hun,ter2', 'ter2'],
  ['YAML', 'db:\n  passwd: hunter2\n', 'hunter2'],
  ['JSON', '{"user":"a","password":"hun\\"ter2","x":1}', 'ter2'],
  ['JSON, a number', '{"token":123456}', '123456'],
  ['JSON in JSON', JSON.stringify({ p: '{"apiKey": "hunter2 x"}' }), 'hunter2'],
  ['URL-query', `https://h.example/p?a=1&api_key=${KEY}&b=2`, KEY],
  ['URL-query, encoded', `redirect=%2Fp%3Ftoken%3D${KEY}`, KEY],
  ['JSON in an address', `/p/${encodeURIComponent(`{"api_key": "${KEY}"}`)}`, KEY],
  ['PEM in an address', `/p/${encodeURIComponent(PEM)}`, PEM_LINES[1] ?? ''],
  ['header', `X-Api-Key: ${KEY}`, KEY],
  ['cookie', 'cookie: a=b; session=hunter2; c=d\nhost: x', 'hunter2'],
  ['code', "config['client_secret'] = 'hunter2'", 'hunter2'],
  ['connection string', 'Server=h;Password=hunter2;User=a', 'hunter2'],
  ['password in a URL', 'postgres://app:hunter2@db.example:5432/x', 'hunter2'],
  ['password with @ in a URL', 'https://app:hun@ter2@db.example/x', 'ter2'],
  ['token in a URL', `https://${KEY}x@git.example/r`, KEY],
];

describe('a secret', () => {
  test.each(SECRETS)('%s', (_kind, text, secret) => {
    expect(text).toContain(secret);
    expect(hideSecrets(text)).not.toContain(secret);
    expect(hideSecrets(text)).toContain('[redacted]');
    const logged = JSON.stringify({ text: JSON.stringify({ text }) });
    const lines = `first\\n${text}`;
    for (const around of [`x ${text} y`, `x\n${text}\ny`, `(${text})`, `"${text}"`, lines, logged])
      expect(hideSecrets(around)).not.toContain(secret);
  });

  test('what stands around it stays', () => {
    expect(hideSecrets('a password=hunter2&b=1 c')).toBe('a password=[redacted]&b=1 c');
    expect(hideSecrets('{"token":"abc","id":7}')).toBe('{"token":"[redacted]","id":7}');
    expect(hideSecrets('{\\"token\\":\\"abc\\",\\"id\\":7}')).toBe(
      '{\\"token\\":\\"[redacted]\\",\\"id\\":7}',
    );
    expect(hideSecrets(`before ${PEM} after`)).toBe('before [redacted] after');
    expect(hideSecrets('cookie: a=b\r\nhost: x')).toBe('cookie: [redacted]\r\nhost: x');
    expect(hideSecrets('pg://a:b@h/x')).toBe('pg://a:[redacted]@h/x');
  });
});

const HARMLESS = [
  '01JABCDEFGHJKMNPQRSTVWXYZ0',
  'thr_01JABCDEFGHJKMNPQRSTVWXYZ0',
  'req_01J8Z3K4M5N6P7Q8R9S0T1V2W3 took 12 ms',
  '0f8fad5b-d9cb-469f-a165-70867728950e',
  'codex:0f8fad5b-d9cb-469f-a165-70867728950e',
  'da39a3ee5e6b4b0d3255bfef95601890afd80709',
  `sha256:${'0123456789abcdef'.repeat(4)}`,
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  '/home/alice/src/task-force-of-many/disk-usage/node_modules/x.ts:12:5',
  'packages/core/src/asks/risk-of-commands.ts',
  'PWD=/home/alice OLDPWD=/tmp',
  'http://127.0.0.1:8080/v1/threads/x@y?limit=5',
  'ssh://git@github.com:22/a/b.git and git@github.com:a/b.git',
  'parley://threads/thr_01JABCDEFGHJKMNPQRSTVWXYZ0',
  'max_tokens: 4096, input_tokens=17, "output_tokens":5',
  '"token_type":"bearer", "token_count":5, tokenizer=x',
  'idempotency_key=abc key_id=k1 primary_key: id',
  'token: string; password?: string',
  'token: must be given',
  'The token is expired; the secret was not found.',
  'password: not set',
  'const token = readToken(path)',
  'password: z.string().min(1)',
  'password=$PASSWORD token=${TOKEN} secret=$(cat x)',
  'Bearer authentication or Basic authentication',
  'the bearer. Then',
  'pass: 10, fail: 2; bypass=1 compass: north',
  'sk-SK, task-1, mask-2',
  'npm_config_user_agent=npm npm_package_name=x',
  'eyJ is how JSON begins in base64',
  '----- a line ----- and -----',
  'alice@example.com, 12:30, a:b, C:\\Users\\alice',
  'Grüße an alle: 漢字 😀',
];

test('ordinary words, ids, hashes, paths and code stay as they are', () => {
  for (const text of HARMLESS) expect(hideSecrets(text)).toBe(text);
});

test('in a value every string is looked at, and all that stands under the name of a secret', () => {
  const value = {
    a: ['ok', { b: `sk-${KEY}` }],
    db_password: 'swordfish',
    pin: { token: 12, apiKey: 'x', secret: null, max_tokens: 5 },
    [`ghp_${KEY}`]: true,
  };
  expect(hideSecretsIn(value)).toEqual({
    a: ['ok', { b: '[redacted]' }],
    db_password: '[redacted]',
    pin: { token: '[redacted]', apiKey: '[redacted]', secret: null, max_tokens: 5 },
    '[redacted]': true,
  });
});

test('a hostile text of any length takes time by its length alone', () => {
  const units = [
    'eyJ',
    'eyJa.',
    'sk-',
    'a',
    'a_',
    'password=',
    'password="',
    "token:'",
    '://a:',
    '://',
    '\\',
  ];
  units.push('-----BEGIN A-----', '-----BEGIN A-----a', '-----', '-----END A-----', 'Bearer ', 'AKIA', '\\"');
  units.push(
    '--a-',
    '--a-token ',
    'token=,a',
    'api_key',
    '%',
    'cookie:',
    'secret_',
    'npm_aaaaaaaaaaaaaaaaaaa',
  );
  units.push('basic aaaaaaaa');
  const slow: string[] = [];
  for (const unit of units)
    for (const start of ['', 'password=', '"password":"', '-----BEGIN A-----', 'eyJ', 'x://a:']) {
      const text = start + unit.repeat(Math.ceil((start === '' ? 1_000_000 : 100_000) / unit.length));
      // What it costs, not how long it takes: others work on the machine too.
      const from = process.cpuUsage();
      hideSecrets(text);
      if (process.cpuUsage(from).user > 2_000_000) slow.push(`${start}${unit}`);
    }
  expect(slow).toEqual([]);
}, 60_000);

test('a secret is found wherever it stands in a text that is longer than one look', () => {
  for (const at of [999_990, 1_000_000, 1_999_980]) {
    const text = `${'word '.repeat(400_000).slice(0, at)} sk-${KEY} ${'x'.repeat(100_000)}`;
    expect(hideSecrets(text)).not.toContain(KEY);
  }
  expect(() => hideSecrets(`password=${'a'.repeat(40_000_000)}`)).not.toThrow();
});
