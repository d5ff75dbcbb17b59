import { ENVELOPE_STATUS, HTTP_STATUS, LIVE_HTTP_STATUS } from '@parley/protocol';

import { createProgram as createProxyProgram } from '../packages/codex-proxy/src/cli/program.ts';
import { createProgram } from '../packages/hub/src/cli/program.ts';
import { describedSurface } from '../tests/harness/surface.ts';
import { commandsOf } from './surface-commands.ts';
import { type Surface, surfaceOf } from './surface.ts';

/** The whole surface as it is now: operations, tools, live messages, codes and both command lines. */
export async function surfaceNow(): Promise<Surface> {
  const { openapi, asyncapi, tools } = describedSurface();
  const named = (of: string, codes: Record<string, number>): [string, number][] =>
    Object.entries(codes).map(([code, status]) => [`${of} ${code}`, status]);
  const surface = surfaceOf({
    openapi,
    asyncapi,
    tools,
    codes: Object.fromEntries([
      ...named('/v1', HTTP_STATUS),
      ...named('envelope', ENVELOPE_STATUS),
      ...named('/ws', LIVE_HTTP_STATUS),
    ]),
    commands: { ...commandsOf(await createProgram()), ...commandsOf(createProxyProgram()) },
  });
  // As it would be read from a file.
  return JSON.parse(JSON.stringify(surface)) as Surface;
}
