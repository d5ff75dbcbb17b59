import type { ProxyClient } from './proxy-client.ts';

/** How a model inside a session reaches its mail tools. */
export interface Door {
  url: string;
  http_headers: { authorization: string };
}

/** The doors of the sessions that a proxy has started with the scripted Codex, the oldest first. */
export function doorsOf(proxy: ProxyClient): Door[] {
  return proxy.received().flatMap(({ method, params }) => {
    const { arguments: given } = (params ?? {}) as { arguments?: { config?: Record<string, Door> } };
    const door = given?.config?.['mcp_servers.atm'];
    return method === 'tools/call' && door !== undefined ? [door] : [];
  });
}

/** What a model inside a session can do by itself: call a mail tool, with whatever it likes. */
export async function callInside(
  { url, http_headers }: Door,
  name: string,
  args: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...http_headers,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  });
  return { status: answer.status, text: await answer.text() };
}
