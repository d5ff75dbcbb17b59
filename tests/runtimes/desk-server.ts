import { type LoopbackServer, openLoopbackServer, sendJson } from '@parley/runtimes';

/** An MCP server with one harmless and one fearsome tool, which tell who called. */
export async function startDesk(): Promise<LoopbackServer> {
  const schema = { type: 'object', properties: {} };
  const tools = [
    { name: 'whoami', description: 'who', inputSchema: schema, annotations: { readOnlyHint: true } },
    { name: 'danger', description: 'danger', inputSchema: schema },
  ];
  const server = await openLoopbackServer(async (request, body, response) => {
    if (request.method !== 'POST') return sendJson(response, 405, {});
    const { id, method, params } = JSON.parse(body);
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const caller = request.headers.authorization ?? 'nobody';
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'desk', version: '1' },
      },
      'tools/list': { tools },
      'tools/call': { content: [{ type: 'text', text: `${params?.name} by ${caller}` }] },
    };
    const result = results[method];
    if (result === undefined)
      return sendJson(response, 200, { jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } });
    return sendJson(response, 200, { jsonrpc: '2.0', id, result });
  });
  return { ...server, url: `${server.url}/mcp` };
}
