import type { InputOf, OperationName, OutputOf } from '@parley/protocol';
import { afterAll, beforeAll, expect } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import type { Answer } from '../harness/face-driver.ts';
import { type HubOptions, type HubProcess, startHub } from '../harness/start-hub.ts';
import { type NatsServer, startNats } from '../harness/start-nats.ts';
import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { registerSigner, type Identity, type Signer } from '../harness/tokens.ts';

/** Hubs over one PostgreSQL and one NATS, and those who call them. */
export interface Nodes {
  readonly postgres: PostgresServer;
  readonly nats: NatsServer;
  readonly hubs: HubProcess[];
  readonly signer: Signer;
  /** A token that is good at every node. */
  token(agent: string, who?: Omit<Identity, 'agent'>): string;
  /** Calls one node as an agent. */
  call<N extends OperationName>(
    node: number,
    token: string,
    operation: N,
    input: unknown,
  ): Promise<Answer<N>>;
  /** Calls what must succeed. */
  ok<N extends OperationName>(
    node: number,
    token: string,
    operation: N,
    input: InputOf<N> & Record<string, unknown>,
  ): Promise<OutputOf<N>>;
  /** Starts another hub in the place of one. */
  restart(node: number): Promise<void>;
}

/** Starts servers and hubs before the tests of a file; `nats: false` leaves the bus to PostgreSQL. */
export function useNodes({
  count = 3,
  nats: withNats = true,
  ...options
}: Omit<HubOptions, 'data' | 'flags'> & { count?: number; nats?: boolean } = {}): Nodes {
  let postgres: PostgresServer | undefined;
  let nats: NatsServer | undefined;
  let signer: Signer | undefined;
  const hubs: HubProcess[] = [];
  const flags = (): string[] => [
    '--store',
    made(postgres).url,
    ...(withNats ? ['--nats', made(nats).url] : []),
  ];
  const start = (): Promise<HubProcess> => startHub({ ...options, flags: flags() });

  beforeAll(async () => {
    [postgres, nats] = await Promise.all([startPostgres(), withNats ? startNats() : undefined]);
    hubs.push(...(await Promise.all(Array.from({ length: count }, start))));
    signer = await registerSigner('test-key', { data: made(hubs[0]).data });
  }, 120_000);
  afterAll(async () => {
    await Promise.all(hubs.map(async (hub) => (hub.ended() ? undefined : hub.stop())));
    await nats?.kill();
    await postgres?.close();
  }, 60_000);

  const call: Nodes['call'] = (node, token, operation, input) =>
    v1Driver.call(made(hubs[node]).url, token, operation, input);

  return {
    get postgres() {
      return made(postgres);
    },
    get nats() {
      return made(nats);
    },
    get signer() {
      return made(signer);
    },
    hubs,
    token: (agent, who = {}) => made(signer).token({ agent, ...who }),
    call,
    async ok(node, token, operation, input) {
      const answer = await call(node, token, operation, input);
      expect(answer.error, `${operation} at node ${node}`).toBeUndefined();
      return answer.result as never;
    },
    async restart(node) {
      hubs[node] = await start();
    },
  };
}

function made<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('it is not started yet');
  return value;
}
