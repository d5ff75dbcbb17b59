import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A secret as it may stand in a text, and the part of it that must be found nowhere. */
export interface Canary {
  text: string;
  secret: string;
}

let count = 0;

/** Twenty random characters that name the way they came in by. */
function key(): string {
  return `Kq7${(++count).toString(36).padStart(4, '0')}Zp4Wm9Xt2Lb8N`;
}

/** One of each kind of secret, other ones at every call. */
export function canaries(): Canary[] {
  const of = (make: (secret: string) => string): Canary => {
    const secret = key();
    return { text: make(secret), secret };
  };
  const basic = Buffer.from(`alice:${key()}`).toString('base64');
  const aws = `${key()}/${key()}`.slice(0, 40).padEnd(40, 'x');
  const id = `${++count}`.padStart(16, 'QX7');
  return [
    of((secret) => `Bearer ${secret}`),
    of((secret) => `eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhIn0.${secret}`),
    of((secret) => `sk-${secret}`),
    of((secret) => `sk-ant-api03-${secret}`),
    of((secret) => `ghp_${secret}`),
    of((secret) => `github_pat_11AB_${secret}`),
    of((secret) => `xoxb-1234-${secret}`),
    of((secret) => `npm_${secret}${secret.slice(0, 4)}`),
    of((secret) => `AIzaSy${secret}abcdef`),
    { text: `AKIA${id}`, secret: id },
    { text: `aws_secret_access_key=${aws}`, secret: aws },
    of((secret) => `password=${secret}`),
    of((secret) => `{"api_key": "${secret}"}`),
    of((secret) => `passwd: ${secret}`),
    of((secret) => `https://h.example/?client_secret=${secret}&x=1`),
    of((secret) => `postgres://app:${secret}@db.example/x`),
    { text: `Authorization: Basic ${basic}`, secret: basic },
    of(
      (secret) =>
        `-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n${secret}\nMIIEvQIBADANBg==\n-----END PRIVATE KEY-----`,
    ),
    of((secret) => `-----BEGIN EC PRIVATE KEY-----\n${secret}`),
  ];
}

/** Those whose secret stands in a text. */
export function leaked(text: string, given: readonly Canary[]): string[] {
  return given.filter(({ secret }) => text.includes(secret)).map((canary) => canary.text);
}

/** All that stands in the files of a folder, but for what is left out. */
export function allFilesOf(folder: string, leaveOut: readonly string[] = []): string {
  return readdirSync(folder, { withFileTypes: true })
    .map((entry) => {
      const path = join(folder, entry.name);
      if (leaveOut.includes(path)) return '';
      if (entry.isDirectory()) return allFilesOf(path, leaveOut);
      return entry.isFile() ? readFileSync(path, 'utf8') : '';
    })
    .join('\n');
}
