import type { ScreenWord, ViewerWord } from '@parley/protocol';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

/** Somebody who looks at a terminal over the hub. */
export interface Viewer {
  /** What the screen shows now, row by row. */
  rows(): string[];
  /** All that was said beside screens, in order. */
  said: Exclude<ScreenWord, { type: 'screen' }>[];
  screens: Extract<ScreenWord, { type: 'screen' }>[];
  say(word: ViewerWord): void;
  closed: Promise<number>;
  close(): void;
}

/** Opens a terminal as its viewer; settles when the connection is there. */
export async function openViewer(url: string, agent: string, token: string, query = ''): Promise<Viewer> {
  const address = `${url.replace(/^http/, 'ws')}/v1/agents/${agent}/terminal${query}`;
  const ws = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } });
  onTestFinished(() => ws.terminate());
  const lines: string[] = [];
  const viewer: Viewer = {
    rows: () => lines,
    said: [],
    screens: [],
    say: (word) => ws.send(JSON.stringify(word)),
    closed: new Promise((resolve) => ws.on('close', resolve)),
    close: () => ws.close(),
  };
  ws.on('message', (data: Buffer) => {
    const word = JSON.parse(data.toString()) as ScreenWord;
    if (word.type !== 'screen') {
      viewer.said.push(word);
      return;
    }
    viewer.screens.push(word);
    if (word.whole) lines.length = 0;
    for (let y = lines.length; y < word.rows; y++) lines[y] = '';
    for (const [y, text] of word.lines) lines[y] = text;
  });
  await new Promise<void>((resolve, reject) => {
    ws.on('open', resolve);
    ws.on('error', reject);
  });
  return viewer;
}
