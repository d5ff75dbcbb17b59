import { freshFolder, removeFolder, startHub } from './hub-process.ts';
import { load } from './load.ts';
import { preparePosts } from './posts.ts';
import { hold, line } from './report.ts';

const SLOW_SYNC = [
  'strace',
  '-f',
  '--seccomp-bpf',
  '-qq',
  '-o',
  '/dev/null',
  '-e',
  'trace=fsync,fdatasync',
  '-e',
  'inject=fsync,fdatasync:delay_exit=20000',
];

/** Reads while every fsync takes 20 ms longer and 64 writers post: the event loop must not wait for the disk. */
export async function benchIsolation(): Promise<void> {
  const data = freshFolder();
  const hub = await startHub(data, {}, [...SLOW_SYNC, process.execPath]);
  try {
    const { head, bodies, token, threads } = await preparePosts(hub);
    const readHead = `GET /v1/threads/${threads[0]}/messages?limit=10 HTTP/1.1\r\nhost: 127.0.0.1:${hub.port}\r\nauthorization: Bearer ${token}\r\n`;
    const reading = {
      host: '127.0.0.1',
      port: hub.port,
      connections: 1,
      head: readHead,
      bodies: [''],
      seed: 'r',
    };
    const quiet = await load({ ...reading, ms: 2_000 });
    const [writes, reads] = await Promise.all([
      load({ host: '127.0.0.1', port: hub.port, connections: 64, ms: 6_000, head, bodies, seed: 'w' }),
      load({ ...reading, ms: 5_000 }),
    ]);
    line('read beside no writer', `p50 ${quiet.p50.toFixed(1)} ms, p99 ${quiet.p99.toFixed(1)} ms`);
    line(
      'read beside 64 writers, slow disk',
      `p50 ${reads.p50.toFixed(1)} ms, p99 ${reads.p99.toFixed(1)} ms`,
    );
    hold('isolation.p99', reads.p99);
    line(
      'posts on the slow disk',
      `${Math.round((writes.requests / writes.ms) * 1_000)}/s, p99 ${writes.p99.toFixed(0)} ms`,
    );
  } finally {
    await hub.stop('SIGKILL');
    removeFolder(data);
  }
}
