import { performance } from 'node:perf_hooks';

import { createQuota, createQuotas } from '@parley/core';

import { createAuthenticate, createTokenCheck } from '../../packages/hub/src/auth/authenticate.ts';
import { folderFiles } from '../../packages/hub/src/state-files/folder-files.ts';
import { createVerifier } from '../../packages/hub/src/auth/verifier.ts';
import { loadConfig } from '../../packages/hub/src/config/load.ts';
import { createMcpFace } from '../../packages/hub/src/faces/mcp/face.ts';
import { quotaSettings } from '../../packages/hub/src/part-settings.ts';
import { type RunningServer, startServer } from '../../packages/hub/src/server.ts';
import { freshFolder } from '../harness/start-hub.ts';
import { issueToken } from '../harness/tokens.ts';
import { createFixtureSurface } from './fixtures/surface.ts';

/** The hub's own server, guards, tokens and MCP face, with what the suite calls behind them instead of the hub's tools. */
export async function startFixtureHub(): Promise<RunningServer & { token: string }> {
  const data = freshFolder();
  const { token } = await issueToken({ agent: 'suite' }, { data });
  const { config } = loadConfig({ data, port: 0 }, { XDG_CONFIG_HOME: data });
  const clock = { now: Date.now, monotonic: () => performance.now(), trusted: Date.now };
  const verifier = createVerifier({
    config,
    stateFiles: folderFiles(config.data),
    now: clock.now,
    warn: () => {},
  });
  const badTokens = createQuota({ per_minute: 60, burst: 60 }, clock);
  const quotas = createQuotas(quotaSettings(config.quota), clock);
  const face = createMcpFace({
    surface: createFixtureSurface,
    authenticate: createAuthenticate(createTokenCheck(verifier, badTokens)),
    limits: {
      bytes: config.limits.request_bytes,
      depth: config.limits.json_depth,
      items: config.limits.json_items,
    },
    sessions: { idleMs: config.mcp.session_idle_ms, maxSessions: config.mcp.max_sessions },
    streams: {
      recheck: (claims) => verifier.recheck(claims),
      recheckMs: config.auth.recheck_ms,
      hold: (claims) => quotas.hold(claims),
    },
    now: clock.monotonic,
    onFault: () => {},
  });
  const server = await startServer({ config, faces: [face], onRefusal: () => {} });
  return { ...server, token };
}
