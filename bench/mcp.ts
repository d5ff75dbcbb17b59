import { freshFolder, removeFolder, startHub } from './hub-process.ts';
import { cpuSeconds, load } from './load.ts';
import { preparePosts } from './posts.ts';
import { hold, line } from './report.ts';

const REVISION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
};

/** Durable posts as MCP tool calls beside the same posts over /v1. */
export async function benchMcp(): Promise<void> {
  const data = freshFolder();
  const hub = await startHub(data);
  try {
    const { head, bodies, token } = await preparePosts(hub);
    const mcp = overMcp(hub.port, token, bodies);
    for (const [name, request, texts] of [
      ['/v1', head, bodies],
      [`MCP ${REVISION}`, mcp.head, mcp.bodies],
    ] as const) {
      const order = { host: '127.0.0.1', port: hub.port, connections: 16, head: request, bodies: texts };
      await load({ ...order, ms: 2_000, seed: `warm ${name}` });
      const before = cpuSeconds(hub.pid);
      const report = await load({ ...order, ms: 5_000, seed: name });
      const cpu = ((cpuSeconds(hub.pid) - before) * 1e6) / report.requests;
      const rate = Math.round((report.requests / report.ms) * 1_000);
      line(`posts over ${name}`, `${rate}/s, ${cpu.toFixed(0)} µs CPU a post, errors ${report.errors}`);
      if (request === mcp.head) hold('mcp.cpu', cpu);
    }
  } finally {
    await hub.stop();
    removeFolder(data);
  }
}

/** The same posts as tool calls of MCP. */
export function overMcp(
  port: number,
  token: string,
  bodies: readonly string[],
): { head: string; bodies: string[] } {
  return {
    head:
      `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
      `accept: application/json, text/event-stream\r\nmcp-protocol-version: ${REVISION}\r\n` +
      `mcp-method: tools/call\r\nmcp-name: post_message\r\nauthorization: Bearer ${token}\r\n`,
    bodies: bodies.map((body) => {
      const params = { name: 'post_message', arguments: JSON.parse(body) as unknown, _meta: META };
      return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    }),
  };
}
