import { randomBytes } from 'node:crypto';

import {
  type Clock,
  createMirror,
  createNodeCalls,
  type DueStream,
  type StateFiles,
  type Nodes,
} from '@parley/core';

import type { Config } from '../config/schema.ts';
import type { Logger } from '../logger.ts';

/** The way to the other nodes, open until it is closed. */
export interface OpenNodes extends Nodes {
  /** By which due deliveries reach whoever works on them; undefined where the bus alone does it. */
  dueStream: DueStream | undefined;
  close(): Promise<void>;
}

interface Secret {
  secret: string;
  space: string;
}

/** Opens the way to the other nodes of a record that several may share; one that has its record for itself has none. */
export async function openNodes(
  config: Config,
  { stateFiles, clock }: { stateFiles: StateFiles; clock: Pick<Clock, 'monotonic'> },
  logger: Logger,
  onFault: (error: unknown) => void,
): Promise<OpenNodes | undefined> {
  if (config.store === '') return undefined;
  const { openBus, openNatsDueStream, openNatsWire, openPostgresWire } = await import('@parley/bus');
  const { secret, space } = await sharedSecret(stateFiles);
  const open =
    config.nats === ''
      ? openPostgresWire({ url: config.store, space })
      : openNatsWire({ url: config.nats, space });
  let wasShut = false;
  const node = randomBytes(8).toString('hex');
  const bus = openBus({
    node,
    secret,
    open,
    onShut(reason) {
      wasShut = true;
      logger.warn({ reason }, 'the other nodes are not heard; the log is looked at every second instead');
    },
    onOpen() {
      if (wasShut) logger.warn({}, 'the other nodes are heard again');
      wasShut = false;
    },
    onFault,
  });
  const dueStream =
    config.nats === ''
      ? undefined
      : openNatsDueStream({
          url: config.nats,
          space,
          node,
          secret,
          onShut: (reason) => logger.warn({ reason }, 'the queue goes on by the bus and the record alone'),
          onOpen: () => logger.warn({}, 'the queue has its stream again'),
        });
  const mirror = createMirror({ bus, clock, onFault });
  const calls = createNodeCalls({ bus, mirror, onFault });
  return {
    bus,
    mirror,
    calls,
    dueStream,
    async close() {
      calls.close();
      mirror.close();
      await bus.close();
    },
  };
}

/** Who can read the record may speak on the bus: the secret stands beside it. */
async function sharedSecret(stateFiles: StateFiles): Promise<Secret> {
  await stateFiles.change('nodes.json', (text) => {
    if (text !== undefined) return text;
    const made: Secret = {
      secret: randomBytes(32).toString('base64url'),
      space: randomBytes(6).toString('hex'),
    };
    return `${JSON.stringify(made)}\n`;
  });
  // Written by a node of this hub, whole.
  return JSON.parse(stateFiles.look('nodes.json').text ?? '') as Secret;
}
