import { request } from 'node:http';

import { onTestFinished } from 'vitest';

import type { Event } from './events-driver.ts';

/** One frame of a stream. */
export interface Frame {
  id: string | undefined;
  name: string | undefined;
  data: Record<string, unknown>;
}

/** An open stream and all it has brought. */
export interface StreamReader {
  status: number;
  text(): string;
  frames(): Frame[];
  ended: Promise<void>;
  /** Stops taking what comes, and takes it again. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Opens server-sent events at a path; they end with the test. */
export function openFrames(
  url: string,
  token: string,
  headers: Record<string, string> = {},
): Promise<StreamReader> {
  return new Promise((resolve, reject) => {
    const options = {
      agent: false,
      headers: { accept: 'text/event-stream', authorization: `Bearer ${token}`, ...headers },
    };
    const outgoing = request(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      const ended = new Promise<void>((done) => response.once('close', done));
      resolve({
        status: response.statusCode ?? 0,
        text: () => text,
        frames: () => toFrames(text),
        ended,
        pause: () => response.pause(),
        resume: () => response.resume(),
        close: () => outgoing.destroy(),
      });
    });
    onTestFinished(() => {
      outgoing.destroy();
    });
    outgoing.once('error', reject);
    outgoing.end();
  });
}

function toFrames(text: string): Frame[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .filter((block) => !block.startsWith(':'))
    .map((block) => {
      const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
      const data = JSON.parse(field('data') ?? '{}') as Record<string, unknown>;
      return { id: field('id'), name: field('event'), data };
    });
}

/** The events of a thread's stream that stand in its log. */
export function logged(reader: StreamReader): Event[] {
  return reader
    .frames()
    .filter(({ id }) => id !== undefined)
    .map(({ data }) => data as unknown as Event);
}

/** The presences a stream has brought: who, how. */
export function presences(reader: StreamReader): [string, string][] {
  return reader
    .frames()
    .filter(({ id, name }) => id === undefined && name !== 'agents')
    .map(({ data }) => (data['event'] ?? data) as unknown as Event)
    .map(({ from, content }) => [from, (content as { state: string }).state]);
}
