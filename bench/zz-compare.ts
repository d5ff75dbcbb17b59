import { spawn } from 'node:child_process';
import { freshFolder, removeFolder } from './hub-process.ts';
import { cpuSeconds, load } from './load.ts';
const BINS = { old: '/tmp/b/base/packages/hub/bin/parley.mjs', new: '/work/wt/b/packages/hub/bin/parley.mjs' };
const words = Array.from({ length: 3000 }, (_, i) => 'w' + ((i * 7919) % 3000).toString(36) + 'ord');
const text = process.argv[2] === 'text';
const conns = Number(process.argv[3] ?? 64), ms = 3000, rounds = Number(process.argv[4] ?? 5);
const hubs: Record<string, any> = {};
for (const [name, bin] of Object.entries(BINS)) {
  const data = freshFolder();
  const child = spawn(process.execPath, [bin, 'serve', '--json', '--data', data, '--port', '0', '--set', 'quota.messages_per_minute=100000000', '--set', 'quota.messages_burst=10000000'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const line = await new Promise<string>((r) => { let t = ''; child.stdout.on('data', (c) => { t += c; if (t.includes('\n')) r(t); }); });
  const { url, pid } = JSON.parse(line);
  const { execFileSync } = await import('node:child_process');
  const token = JSON.parse(execFileSync(process.execPath, [bin, 'token', 'issue', '--data', data, '--agent', 'bench', '--role', 'orchestrator', '--json']).toString()).token;
  const bodies: string[] = [];
  for (let i = 0; i < 20; i++) {
    const r = await fetch(url + '/v1/create_thread', { method: 'POST', headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' }, body: JSON.stringify({ title: 'b' + i }) });
    const { thread_id } = await r.json() as any;
    const body = text ? Array.from({ length: 45 }, (_, n) => words[(i * 131 + n * 17) % 3000]).join(' ') : 'x'.repeat(300);
    bodies.push(JSON.stringify({ thread_id, schema_version: 1, body, idempotency_key: '{n}' }));
  }
  const port = Number(new URL(url).port);
  hubs[name] = { child, data, pid, port, bodies, url, token, head: `POST /v1/post_message HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\nauthorization: Bearer ${token}\r\n`, rates: [], cpus: [], p50: [], p99: [] };
}
for (let round = -1; round < rounds; round++)
  for (const name of round % 2 ? ['old', 'new'] : ['new', 'old']) {
    const h = hubs[name];
    const before = cpuSeconds(h.pid);
    const r = await load({ host: '127.0.0.1', port: h.port, connections: conns, ms, head: h.head, bodies: h.bodies, seed: `${name}${round}` });
    if (round >= 0) { h.rates.push((r.requests / r.ms) * 1000); h.cpus.push(((cpuSeconds(h.pid) - before) * 1e6) / r.requests); h.p50.push(r.p50); h.p99.push(r.p99); }
    if (name === 'new' && round >= 0) { const d = await (await fetch(h.url + '/v1/hub', { headers: { authorization: 'Bearer ' + h.token } })).json() as any; if (d.search) console.log('lag', d.search); }
    await new Promise((r) => setTimeout(r, 500));
  }
const med = (l: number[]) => l.toSorted((a, b) => a - b)[l.length >> 1]!;
for (const [name, h] of Object.entries(hubs)) console.log(name, 'rate', Math.round(med(h.rates)), 'cpu us/post', Math.round(med(h.cpus)), 'p50', med(h.p50).toFixed(1), 'p99', med(h.p99).toFixed(1), h.rates.map(Math.round).join(' '));
for (const h of Object.values(hubs)) { h.child.kill('SIGTERM'); await new Promise((r) => h.child.once('exit', r)); removeFolder(h.data); }
