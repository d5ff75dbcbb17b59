import type { Ports } from './ports.ts';

const nothingKept = () => Promise.reject(new Error('nothing is kept here'));

/** The ports of what has no part in a test: nothing is indexed, no model writes, no file is kept. */
export const ABSENT_PORTS = {
  prose: undefined,
  messageSearch: undefined,
  library: {
    backend: 'embedded',
    find: () => Promise.resolve({ passages: [], keyword_hits: 0, vector_hits: 0, lacks: [] }),
    sentences: () => Promise.resolve([]),
  },
  indexFollower: { caughtUp: () => Promise.resolve(true), again: () => {}, look: () => {} },
  answerer: undefined,
  noopAllowed: false,
  agentsCreateUnder: ['root'],
  highRisk: [],
  passkeys: {
    demanded: 'off',
    hub: 'sample',
    origins: () => ['http://localhost'],
    checkNew: nothingKept,
    checkSignature: nothingKept,
  },
  prices: [],
  artifacts: {
    types: ['text/plain'],
    keep: nothingKept,
    read: nothingKept,
    sign: async () => '',
    named: () => ({ workspace_id: '', sha256: '' }),
  },
  address: () => 'http://127.0.0.1',
  about: () => ({
    version: '0.0.0',
    address: 'http://127.0.0.1',
    started_at: new Date(0).toISOString(),
    keys: [],
    event_loop: { active_ms: 0, idle_ms: 0 },
    clock: { ahead_ms: 0, jumps: [] },
  }),
} satisfies Partial<Ports>;
