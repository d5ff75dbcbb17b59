import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import * as z from 'zod';

import { VERSION } from '../version.ts';
import { MAIL_TOOLS, type MailToolDeps, type MailUser } from './mail-tools.ts';
import { runMailTool } from './run-mail-tool.ts';

/** What answers the calls of one session. */
export type SessionHandler = ReturnType<typeof createMcpHandler>;

/** The mail tools of one session as an MCP server. */
export function createSessionHandler(
  deps: MailToolDeps,
  user: MailUser,
  onerror: (error: Error) => void,
): SessionHandler {
  return createMcpHandler(
    () => {
      const server = new Server({ name: 'atm', version: VERSION }, { capabilities: { tools: {} } });
      server.setRequestHandler('tools/list', () => ({ tools: TOOLS }));
      server.setRequestHandler('tools/call', ({ params }) =>
        runMailTool(deps, user, params.name, params.arguments ?? {}),
      );
      return server;
    },
    { onerror },
  );
}

const TOOLS = MAIL_TOOLS.map(({ name, title, description, input, annotations }) => {
  const { $schema: _schema, ...inputSchema } = z.toJSONSchema(input, { io: 'input' });
  return {
    name,
    title,
    description,
    // The input of every tool is an object.
    inputSchema: inputSchema as { type: 'object' },
    annotations: { title, ...annotations },
  };
});
