import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import {
  type ResponsesItem,
  type ResponsesRequest,
  type ResponsesStep,
  type ResponsesTool,
  startOpenaiResponses,
} from '@parley/runtimes';
import { requireTool } from '../tools/tools.ts';
import {
  argumentsOf,
  toolResult,
  type AgentRun,
  type AgentTask,
  type ToolCall,
  type ToolResult,
} from './agent-run.ts';
import { codexConfig, tokenVariable } from './codex-config.ts';
import { openIsolatedHome } from './isolated-home.ts';
import { runProcess } from './run-process.ts';

/** The Codex releases under test: the newest, and the last one that still has `codex mcp-server`. */
export type CodexTool = 'codex' | 'codex-0153';

/** Runs the real Codex once (`codex exec`) with a scripted model that makes the given tool calls in order; `features` switches its feature flags. */
export async function runCodex(
  codex: CodexTool,
  task: AgentTask & { features?: Record<string, boolean> },
): Promise<AgentRun> {
  const name = task.serverName ?? 'hub';
  const place = await openIsolatedHome();
  let results: ToolResult[] = [];
  const model = await startOpenaiResponses((request) => {
    const seen = resultsIn(request, task.calls);
    if (seen.length > results.length) results = seen;
    return nextStep(request, task.calls, seen, name);
  });
  try {
    const codexHome = path.join(place.home, '.codex');
    await mkdir(codexHome);
    const config = codexConfig({
      modelUrl: model.url,
      name,
      server: task.server,
      features: task.features ?? {},
      marker: place.root,
    });
    await writeFile(path.join(codexHome, 'config.toml'), config);
    const token = task.server.kind === 'http' ? task.server.token : undefined;
    const env = {
      ...place.env,
      CODEX_HOME: codexHome,
      ...(token === undefined ? {} : { [tokenVariable]: token }),
    };
    const args = ['exec', '--json', '--skip-git-repo-check', '--sandbox', 'read-only', 'Make the calls.'];
    const end = await runProcess(requireTool(codex), args, {
      cwd: place.work,
      env,
      marker: place.root,
      timeoutMs: task.timeoutMs ?? 60_000,
    });
    if (model.errors.length > 0) throw model.errors[0];
    return {
      ...end,
      results: withErrors(results, end.stdout),
      modelRequests: model.requests.map((request) => request.body),
      strays: model.strays,
    };
  } finally {
    await model.close();
    await place.remove();
  }
}

/** What the scripted model does next, and the results it has seen so far. */
export function stepsOfCodex(request: ResponsesRequest, calls: ToolCall[], server: string): ResponsesStep[] {
  return nextStep(request, calls, resultsIn(request, calls), server);
}

function nextStep(
  request: ResponsesRequest,
  calls: ToolCall[],
  results: ToolResult[],
  server: string,
): ResponsesStep[] {
  const call = calls[results.length];
  if (call === undefined) return [{ text: 'done' }];
  const found = findTool(request, server, call.tool);
  const search = `search_${results.length}`;
  const searched = request.body.input.some(
    (item) => item.type === 'tool_search_output' && item.call_id === search,
  );
  const canSearch = request.body.tools.some((tool) => tool.type === 'tool_search');
  if (found === undefined && canSearch && !searched)
    return [{ search: `${server} ${call.tool}`, id: search }];
  return [
    {
      ...(found ?? { call: call.tool, namespace: `mcp__${server}` }),
      arguments: argumentsOf(call, results),
      id: callId(results.length),
    },
  ];
}

// An MCP tool is offered flat, inside a namespace, or only as the find of a tool search.
function findTool(
  request: ResponsesRequest,
  server: string,
  tool: string,
): { call: string; namespace?: string } | undefined {
  const found = request.body.input.flatMap((item) =>
    item.type === 'tool_search_output' ? (item.tools ?? []) : [],
  );
  const offered: ResponsesTool[] = [...request.body.tools, ...found];
  const flat = `mcp__${server}__${tool}`;
  if (offered.some((candidate) => candidate.name === flat)) return { call: flat };
  const space = offered.find(
    (candidate) =>
      candidate.type === 'namespace' &&
      candidate.name?.startsWith(`mcp__${server}`) &&
      candidate.tools?.some((inner) => inner.name === tool),
  );
  return space?.name === undefined ? undefined : { call: tool, namespace: space.name };
}

function resultsIn(request: ResponsesRequest, calls: ToolCall[]): ToolResult[] {
  const results: ToolResult[] = [];
  for (const [index, call] of calls.entries()) {
    const item = request.body.input.find(
      (candidate) => candidate.type === 'function_call_output' && candidate.call_id === callId(index),
    );
    if (item === undefined) break;
    results.push(toolResult(call.tool, plainText(item), false));
  }
  return results;
}

function plainText(item: ResponsesItem): string {
  const parts =
    typeof item.output === 'string'
      ? [item.output]
      : (item.output as Array<{ text?: string }>).map((part) => part.text ?? '');
  return parts.join('\n').replace(/^Wall time: [\d.]+ seconds\nOutput:\n/, '');
}

// The model is not told whether a tool failed, but the event stream says so.
function withErrors(results: ToolResult[], stdout: string): ToolResult[] {
  const events = stdout
    .split('\n')
    .filter((line) => line.startsWith('{"type":"item.completed"'))
    .map((line) => (JSON.parse(line) as { item: ToolEvent }).item)
    .filter((item) => item.type === 'mcp_tool_call');
  return results.map((result) => {
    const event = events[0]?.tool === result.tool ? events.shift() : undefined;
    return { ...result, isError: event?.status !== 'completed' };
  });
}

interface ToolEvent {
  type: string;
  tool?: string;
  status?: string;
}

function callId(index: number): string {
  return `call_scripted_${index}`;
}
