import { openBalancer } from './open-balancer.ts';
import { type HubOptions, type HubProcess, type SaidLines, startNode } from './hub-process.ts';
import { folderOfNode } from './store-profile.ts';

/** Each node has an address of its own and the port of the balancer, so that all take its name for theirs. */
const ADDRESSES = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];

/** Starts three nodes of one hub behind a balancer: every connection goes to the next of them. */
export async function startNodes(options: HubOptions & { data: string }): Promise<HubProcess> {
  const { data, flags = [], settings = {} } = options;
  const asked = flags.indexOf('--port') + 1;
  const balancer = await openBalancer(asked === 0 ? 0 : Number(flags[asked]), ADDRESSES);
  const url = `http://127.0.0.1:${balancer.port}`;
  // As whoever puts a balancer before nodes tells them.
  const named = { 'http.base_url': url, ...settings };
  const said: SaidLines = { text: '' };
  const started = await Promise.allSettled(
    ADDRESSES.map((address, i) => {
      const own = ['--host', address, '--port', String(balancer.port)];
      const node = { ...options, settings: named, data: folderOfNode(data, i + 1) };
      return startNode({ ...node, flags: [...flags, ...own] }, said);
    }),
  );
  const nodes = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const refusal = started.find((one) => one.status === 'rejected');
  if (refusal !== undefined) {
    await Promise.all(nodes.map((node) => node.kill()));
    balancer.close();
    throw refusal.reason;
  }
  const pids = nodes.map(({ pid }) => pid);
  return {
    url,
    pid: pids[0] ?? 0,
    pids,
    data,
    stderr: () => said.text,
    ended: () => nodes.some((node) => node.ended()),
    async stop() {
      balancer.close();
      const codes = await Promise.all(nodes.map((node) => node.stop()));
      return codes.find((code) => code !== 0) ?? 0;
    },
    async kill() {
      await Promise.all(nodes.map((node) => node.kill()));
      balancer.close();
    },
  };
}
