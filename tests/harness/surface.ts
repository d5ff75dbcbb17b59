import { ENVELOPE_ACTIONS } from '@parley/protocol';

import { createDeprecations } from '../../packages/hub/src/deprecations.ts';
import { listTools } from '../../packages/hub/src/faces/mcp/tools.ts';
import { openApiDocument } from '../../packages/hub/src/faces/v1/openapi/document.ts';
import { asyncApiDocument } from '../../packages/hub/src/faces/ws/asyncapi.ts';
import { VERSION } from '../../packages/hub/src/version.ts';

const ADDRESS = 'http://127.0.0.1:8620';

/** Everything a hub says of its own wires, made by the functions that serve it. */
export function describedSurface() {
  return {
    openapi: openApiDocument(VERSION, ADDRESS, createDeprecations([])),
    asyncapi: asyncApiDocument(VERSION, ADDRESS),
    tools: listTools('full'),
    actions: ENVELOPE_ACTIONS,
  };
}
