import type { request as Request } from 'node:http';

/** What the hub said, as far as a call needs it. */
interface PlainAnswer {
  ok: boolean;
  status: number;
  url: string;
  headers: { get(name: string): string | null };
  text(): Promise<string>;
  json(): Promise<unknown>;
}

/** One request by the oldest means: `fetch` is a fifth of the memory that `parley run` may have, and of the time a command takes. */
export async function plainSend(url: string, init: RequestInit): Promise<PlainAnswer> {
  const { request: open }: { request: typeof Request } = url.startsWith('https:')
    ? await import('node:https')
    : await import('node:http');
  return new Promise((resolve, reject) => {
    const request = open(url, {
      method: init.method,
      // All calls here give them as an object.
      headers: init.headers as Record<string, string>,
      // A connection that is kept may be cut under a request, and nobody knows how far it came.
      agent: false,
      ...(init.signal === undefined || init.signal === null ? {} : { signal: init.signal }),
    });
    request.on('error', (error) => reject(init.signal?.aborted === true ? init.signal.reason : error));
    request.on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        resolve({
          ok: status >= 200 && status < 300,
          status,
          url,
          headers: { get: (name) => headers[name.toLowerCase()]?.toString() ?? null },
          text: async () => text,
          json: async () => JSON.parse(text),
        });
      });
    });
    request.end(init.body);
  });
}
