import { hkdfSync } from 'node:crypto';

import type { Bus } from '@parley/core';

import { createPieces } from './pieces.ts';
import { SEAL_BYTES, seal, unseal } from './sealed.ts';
import type { OpenWire } from './wire.ts';

export interface BusOptions {
  /** The name of this node. */
  node: string;
  /** What only the nodes of this hub know. */
  secret: string;
  open: OpenWire;
  /** The way to the others is shut, and open again: each is told once. */
  onShut: (reason: string) => void;
  onOpen: () => void;
  onFault: (error: unknown) => void;
}

interface Message {
  from: string;
  subject: string;
  body: unknown;
}

/** Opens the bus over a wire; what comes from anybody but a node of this hub is dropped. */
export function openBus({ node, secret, open, onShut, onOpen, onFault }: BusOptions): Bus {
  const key = Buffer.from(hkdfSync('sha256', secret, 'parley', 'the bus between nodes', 32));
  const listenersBySubject = new Map<string, ((body: unknown, from: string) => void)[]>();
  const onConnected: (() => void)[] = [];
  const pieces = createPieces();
  let reason: string | undefined = 'not connected yet';

  function hear(sealed: Buffer): void {
    const piece = unseal(key, sealed);
    const whole = piece && pieces.join(piece);
    if (whole === undefined) return;
    // The seal was right, so a node of this hub has written it.
    const { from, subject, body } = JSON.parse(whole.toString()) as Message;
    if (from === node) return;
    for (const listener of listenersBySubject.get(subject) ?? []) listener(body, from);
  }

  const wire = open(node, {
    onBytes(bytes) {
      try {
        hear(bytes);
      } catch (error) {
        onFault(error);
      }
    },
    onOpen() {
      reason = undefined;
      onOpen();
      for (const listener of onConnected) listener();
    },
    onShut(why) {
      reason = why;
      onShut(why);
    },
  });

  function send(to: string | undefined, subject: string, body: unknown): void {
    if (reason !== undefined) return;
    const whole = Buffer.from(JSON.stringify({ from: node, subject, body } satisfies Message));
    for (const piece of pieces.cut(whole, wire.maxBytes - SEAL_BYTES)) wire.send(to, seal(key, piece));
  }

  return {
    node,
    publish: (subject, body) => send(undefined, subject, body),
    send,
    subscribe(subject, listener) {
      const own = listenersBySubject.get(subject) ?? [];
      listenersBySubject.set(subject, own);
      own.push(listener);
    },
    onConnected: (listener) => void onConnected.push(listener),
    health: () =>
      reason === undefined ? { connected: true, how: wire.how } : { connected: false, how: wire.how, reason },
    close: () => wire.close(),
  };
}
