import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import {
  type ApprovalEnd,
  type ApprovalRequest,
  type BackendName,
  type ChildExit,
  type Codex,
  type CodexEvent,
  type CodexOptions,
  openCodex,
  type ResponsesRequest,
  scriptedModelConfig,
  startOpenaiResponses,
  type ThreadOptions,
  type ThreadStatus,
} from '@parley/runtimes';
import { type IsolatedHome, openIsolatedHome } from '../agents/isolated-home.ts';
import type { CodexTool } from '../agents/run-codex.ts';
import { requireTool } from '../tools/tools.ts';
import { createGate, type Gate, obeyPrompt } from './scripted-agent.ts';

/** One real Codex with an obedient model, and all that was heard of it. */
export interface CodexScene {
  codex: Codex;
  place: IsolatedHome;
  events: CodexEvent[];
  approvals: ApprovalRequest[];
  closedApprovals: [id: string, how: ApprovalEnd][];
  statuses: ThreadStatus[];
  exits: ChildExit[];
  requests: ResponsesRequest[];
  gate: Gate;
  thread: ThreadOptions;
  /** Another Codex of the same home. */
  reopen(options?: Partial<CodexOptions>): Codex;
  newGate(): Gate;
  close(): Promise<void>;
}

/** Opens a real Codex in a home of its own. */
export async function openCodexScene(
  tool: CodexTool,
  backend: 'auto' | BackendName,
  extra: Partial<CodexOptions> = {},
): Promise<CodexScene> {
  const place = await openIsolatedHome();
  const gates = { current: createGate() };
  const model = await startOpenaiResponses((request) => obeyPrompt(request, place.work, gates.current));
  const codexHome = path.join(place.home, '.codex');
  await mkdir(codexHome);
  await writeFile(
    path.join(codexHome, 'config.toml'),
    scriptedModelConfig(model.url, {
      request_permissions_tool: true,
      default_mode_request_user_input: true,
    }),
  );
  const heard = {
    events: [] as CodexEvent[],
    approvals: [] as ApprovalRequest[],
    closedApprovals: [] as [string, ApprovalEnd][],
    statuses: [] as ThreadStatus[],
    exits: [] as ChildExit[],
  };
  const opened: Codex[] = [];
  const reopen = (options: Partial<CodexOptions> = {}): Codex => {
    const codex = openCodex({
      bin: requireTool(tool),
      env: { ...place.env, CODEX_HOME: codexHome },
      cwd: place.work,
      backend,
      clientInfo: { name: 'parley-test', version: '0.0.0' },
      onEvent: (event) => heard.events.push(event),
      onApproval: (request) => heard.approvals.push(request),
      onApprovalClosed: (id, how) => heard.closedApprovals.push([id, how]),
      onStatus: (_threadId, status) => heard.statuses.push(status),
      onExit: (exit) => heard.exits.push(exit),
      log: () => {},
      ...extra,
      ...options,
    });
    opened.push(codex);
    return codex;
  };
  return {
    ...heard,
    codex: reopen(),
    place,
    requests: model.requests,
    get gate() {
      return gates.current;
    },
    thread: { cwd: place.work, approvalPolicy: 'on-request', sandbox: 'read-only' },
    reopen,
    newGate: () => (gates.current = createGate()),
    async close() {
      gates.current.open();
      await Promise.all(opened.map((codex) => codex.close()));
      await model.close();
      await place.remove();
    },
  };
}
