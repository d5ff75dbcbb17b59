import { freshFolder, removeFolder, startHub } from './hub-process.ts';
import { load } from './load.ts';
import { preparePosts } from './posts.ts';
import { hold, line } from './report.ts';

/** Group commit beside one transaction per request: the same hub, the same load, only the batch size differs. */
export async function benchBatching(): Promise<void> {
  const perSecond: number[] = [];
  for (const batch of [1, 512]) {
    const data = freshFolder();
    const hub = await startHub(data, { 'limits.batch': batch });
    try {
      const { head, bodies } = await preparePosts(hub);
      const order = { host: '127.0.0.1', port: hub.port, connections: 256, head, bodies };
      await load({ ...order, ms: 1_000, seed: 'warm' });
      const report = await load({ ...order, ms: 4_000, seed: 'run' });
      perSecond.push((report.requests / report.ms) * 1_000);
      line(
        `posts, at most ${batch} a transaction`,
        `${Math.round(perSecond.at(-1) ?? 0)}/s, p99 ${report.p99.toFixed(1)} ms`,
      );
    } finally {
      await hub.stop();
      removeFolder(data);
    }
  }
  hold('batching.ratio', (perSecond[1] ?? 0) / (perSecond[0] ?? 1));
}
