import { expect, test } from 'vitest';

import { type ProxyErrorName, proxyError } from './errors.ts';

test('[NFR-6] the codes that clients know, each with its name and its source', () => {
  const codes: Record<ProxyErrorName, number> = {
    IDENTITY_CONFLICT: -32_001,
    SESSION_NOT_FOUND: -32_002,
    SESSION_CLOSED: -32_003,
    MAX_SESSIONS_EXCEEDED: -32_004,
    CHILD_PROCESS_DEAD: -32_005,
    REQUEST_TIMEOUT: -32_006,
    INVALID_SESSION_PARAMS: -32_007,
    AGENT_FILE_NOT_FOUND: -32_008,
    IDENTITY_REQUIRED: -32_009,
  };
  for (const [name, code] of Object.entries(codes))
    expect(proxyError(name as ProxyErrorName, 'why', { identity: 'arch' })).toMatchObject({
      code,
      message: 'why',
      data: { error_source: 'proxy', error_name: name, identity: 'arch' },
    });
});
