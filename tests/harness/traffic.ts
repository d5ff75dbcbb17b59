import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { atFileEnd } from './at-file-end.ts';
import { createChecks, type SeenExchange, type SurfaceChecks } from './surface-checks.ts';
import { describedSurface } from './surface.ts';
import { readFrames } from './ws-frames.ts';

/** Loaded into a hub, it writes down its traffic in the file that PARLEY_TRAFFIC names. */
export const RECORDER = new URL('record-traffic.mjs', import.meta.url).href;
const TOLD = 20;

let checks: SurfaceChecks | undefined;

/** How a hub is started that writes down its traffic; when the tests of the file have ended, all of it must be as described. */
export function recordTraffic(): { args: string[]; env: Record<string, string> } {
  const folder = mkdtempSync(join(tmpdir(), 'parley-traffic-'));
  const file = join(folder, 'traffic');
  writeFileSync(file, '');
  // A hub may run as another user.
  chmodSync(folder, 0o755);
  chmodSync(file, 0o666);
  atFileEnd(() => {
    const bytes = readFileSync(file);
    rmSync(folder, { recursive: true, force: true });
    if (bytes.length === 0) throw new Error('the hub did not write down its traffic');
    const found = [...new Set(differences(bytes))];
    if (found.length > 0)
      throw new Error(`the hub differs from its own descriptions:\n${found.slice(0, TOLD).join('\n')}`);
  });
  return { args: ['--import', RECORDER], env: { PARLEY_TRAFFIC: file } };
}

/** What in a record of traffic is not as described. */
export function differences(bytes: Buffer): string[] {
  // Once for each worker.
  checks ??= createChecks(describedSurface());
  const { exchange, frame } = checks;
  const found: string[] = [];
  const exchanges = new Map<number, Partial<SeenExchange> & { in: Buffer[]; out: Buffer[] }>();
  const sockets = new Map<number, Record<'i' | 'o', (piece: Buffer) => void>>();
  for (const { id, kind, piece } of piecesOf(bytes)) {
    if (kind === 'w') {
      const socket = {};
      const tell = (way: 'in' | 'out') => (text: string) => found.push(...frame(socket, way, text));
      sockets.set(id, { i: readFrames(tell('in')), o: afterHandshake(readFrames(tell('out'))) });
    } else if (kind === 'r') exchanges.set(id, { ...objectIn(piece), in: [], out: [] });
    else if (kind === 's') Object.assign(exchanges.get(id) ?? {}, objectIn(piece));
    else if (kind === 'e') Object.assign(exchanges.get(id) ?? {}, { isWhole: true });
    else if (kind === 'x') exchanges.delete(id);
    else if (kind === 'i' || kind === 'o') {
      sockets.get(id)?.[kind](piece);
      exchanges.get(id)?.[kind === 'i' ? 'in' : 'out'].push(piece);
    }
  }
  for (const { in: asked, out: answered, ...head } of exchanges.values()) {
    // Of what was cut off, the events of a stream that are whole still count.
    if (head.status === undefined || (head.isWhole !== true && !head.type?.startsWith('text/event-stream')))
      continue;
    found.push(
      ...exchange({
        ...(head as SeenExchange),
        asked: Buffer.concat(asked).toString('utf8'),
        answered: Buffer.concat(answered).toString('utf8'),
      }),
    );
  }
  return found;
}

/** The pieces of a record; a hub that was killed may have left half of one. */
function* piecesOf(bytes: Buffer): Generator<{ id: number; kind: string; piece: Buffer }> {
  let at = 0;
  while (at + 9 <= bytes.length) {
    const size = bytes.readUInt32LE(at + 5);
    if (at + 9 + size > bytes.length) return;
    const kind = String.fromCharCode(bytes.readUInt8(at + 4));
    yield { id: bytes.readUInt32LE(at), kind, piece: bytes.subarray(at + 9, at + 9 + size) };
    at += 9 + size;
  }
}

/** Frames begin behind the answer to the handshake; a refused one has none. */
function afterHandshake(read: (bytes: Buffer) => void): (bytes: Buffer) => void {
  let head = Buffer.alloc(0);
  let isOpen = false;
  return (bytes) => {
    if (isOpen) return read(bytes);
    head = Buffer.concat([head, bytes]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0 || !head.subarray(0, 12).equals(Buffer.from('HTTP/1.1 101'))) return undefined;
    isOpen = true;
    return read(head.subarray(end + 4));
  };
}

const objectIn = (piece: Buffer): object => JSON.parse(piece.toString('utf8')) as object;
