/** What the original ATM does with an inbox, in a process of its own: appends under flock on `<agent>.lock`, and knows no other lock. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

const [path = '', name = '', count = '0'] = process.argv.slice(2);

for (let i = 0; i < Number(count); i += 1) {
  const holder = spawn('flock', ['-x', path.replace(/\.json$/, '.lock'), 'cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  holder.stdin.write('.');
  await once(holder.stdout, 'data');
  const message_id = `${name}-${i}`;
  const entries = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as unknown[]) : [];
  entries.push({
    from: name,
    text: message_id,
    timestamp: new Date().toISOString(),
    read: false,
    message_id,
  });
  const temporary = path.replace(/\.json$/, '.tmp');
  writeFileSync(temporary, JSON.stringify(entries, null, 2));
  renameSync(temporary, path);
  holder.stdin.end();
  await once(holder, 'exit');
  process.stdout.write(`${message_id}\n`);
}
