import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import {
  type MessagesBlock,
  type MessagesRequest,
  type MessagesStep,
  QUIET_CLAUDE,
  startAnthropicMessages,
} from '@parley/runtimes';

import { requireTool } from '../tools/tools.ts';
import {
  argumentsOf,
  toolResult,
  type AgentRun,
  type AgentTask,
  type McpServer,
  type ToolCall,
  type ToolResult,
} from './agent-run.ts';
import { openIsolatedHome } from './isolated-home.ts';
import { runProcess } from './run-process.ts';

/** Runs the real Claude Code once (`claude -p`) with a scripted model that makes the given tool calls in order. */
export async function runClaude(task: AgentTask): Promise<AgentRun> {
  const name = task.serverName ?? 'hub';
  const place = await openIsolatedHome();
  let results: ToolResult[] = [];
  const model = await startAnthropicMessages((request) => {
    const seen = resultsIn(request, task.calls);
    if (seen.length > results.length) results = seen;
    return nextStep(request, task.calls, seen, name);
  });
  try {
    const env = {
      ...place.env,
      ...QUIET_CLAUDE,
      CLAUDE_CONFIG_DIR: `${place.home}/.claude`,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'sk-scripted',
    };
    const config = path.join(place.home, 'mcp.json');
    await writeFile(config, JSON.stringify({ mcpServers: { [name]: serverEntry(task.server) } }));
    // The flags that take several values swallow a prompt that follows them.
    const args = [
      '-p',
      'Make the calls.',
      '--output-format',
      'json',
      '--strict-mcp-config',
      '--mcp-config',
      config,
      '--allowedTools',
      `mcp__${name}`,
      ...(task.settings === undefined ? [] : ['--settings', JSON.stringify(task.settings)]),
    ];
    const end = await runProcess(requireTool('claude'), args, {
      cwd: place.work,
      env,
      marker: place.root,
      timeoutMs: task.timeoutMs ?? 60_000,
      ...(task.graceMs === undefined ? {} : { graceMs: task.graceMs }),
    });
    if (model.errors.length > 0) throw model.errors[0];
    return {
      ...end,
      results,
      modelRequests: model.requests.map((request) => request.body),
      strays: model.strays,
    };
  } finally {
    await model.close();
    await place.remove();
  }
}

/** How Claude Code is told of an MCP server. */
export function serverEntry(server: McpServer): Record<string, unknown> {
  if (server.kind === 'stdio') {
    const { command, args, env } = server;
    return { type: 'stdio', command, args, env: env ?? {} };
  }
  const headers = server.token === undefined ? {} : { Authorization: `Bearer ${server.token}` };
  return { type: 'http', url: server.url, headers };
}

/** What the scripted model does next. */
export function stepsOfClaude(request: MessagesRequest, calls: ToolCall[], server: string): MessagesStep[] {
  return nextStep(request, calls, resultsIn(request, calls), server);
}

function nextStep(
  request: MessagesRequest,
  calls: ToolCall[],
  results: ToolResult[],
  server: string,
): MessagesStep[] {
  const offered = (request.body.tools ?? []).map((tool) => tool.name);
  // Claude Code also asks for titles and the like, without tools.
  if (offered.length === 0) return [{ text: 'ok' }];
  const call = calls[results.length];
  if (call === undefined) return [{ text: 'done' }];
  const tool = `mcp__${server}__${call.tool}`;
  const search = `search_${results.length}`;
  if (!offered.includes(tool) && offered.includes('ToolSearch') && textOf(request, search) === undefined) {
    return [{ use: 'ToolSearch', input: { query: `select:${tool}`, max_results: 5 }, id: search }];
  }
  return [{ use: tool, input: argumentsOf(call, results), id: callId(results.length) }];
}

function resultsIn(request: MessagesRequest, calls: ToolCall[]): ToolResult[] {
  const results: ToolResult[] = [];
  for (const [index, call] of calls.entries()) {
    const block = resultBlock(request, callId(index));
    if (block === undefined) break;
    results.push(toolResult(call.tool, plainText(block.content), block.is_error === true));
  }
  return results;
}

function resultBlock(request: MessagesRequest, id: string): MessagesBlock | undefined {
  return request.body.messages
    .flatMap((message) => (typeof message.content === 'string' ? [] : message.content))
    .find((block) => block.type === 'tool_result' && block.tool_use_id === id);
}

function textOf(request: MessagesRequest, id: string): string | undefined {
  const block = resultBlock(request, id);
  return block === undefined ? undefined : plainText(block.content);
}

function plainText(content: string | MessagesBlock[] | undefined): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((block) => block.text ?? '').join('\n');
}

function callId(index: number): string {
  return `toolu_scripted_${index}`;
}
