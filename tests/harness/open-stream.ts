import { request } from 'node:http';

/** A follower of one thread over server-sent events. */
export interface Stream {
  status: number;
  /** The messages so far. */
  messages(): { seq: number; body: string }[];
  /** Everything that came, as it came. */
  text(): string;
  ended: Promise<void>;
  close(): void;
}

/** Opens the stream of a thread and resolves once its head has arrived. */
export function openStream(
  url: string,
  token: string,
  threadId: string,
  headers: Record<string, string> = {},
): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${url}/v1/threads/${threadId}/messages`,
      {
        agent: false,
        headers: { accept: 'text/event-stream', authorization: `Bearer ${token}`, ...headers },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        const ended = new Promise<void>((done) => response.once('close', done));
        resolve({
          status: response.statusCode ?? 0,
          text: () => text,
          messages: () =>
            [...text.matchAll(/^data: (\{.*\})$/gm)].map(
              ([, data = '']) => JSON.parse(data) as { seq: number; body: string },
            ),
          ended,
          close: () => outgoing.destroy(),
        });
      },
    );
    outgoing.once('error', reject);
    outgoing.end();
  });
}
