import type { ManagedOptions, ManagedProof, ManagedSession, ManagedTurnEnd } from '../managed/session.ts';
import { objectAt } from '../process/rpc-peer.ts';
import { RuntimeError } from '../runtime-error.ts';
import { askOf, decisionOfVerdict } from './approval-ask.ts';
import type { CodexEvent, TurnResult } from './backend.ts';
import { describeEvent } from './describe-event.ts';
import { managedCodexArguments } from './managed-arguments.ts';
import { openCodex } from './open-codex.ts';
import { spentByCodex } from './spent-by-codex.ts';

interface Expected {
  text: string;
  come: (proof: ManagedProof) => void;
  refuse: (error: RuntimeError) => void;
}

/** One thread in one `codex app-server`. */
export async function openManagedCodex(options: ManagedOptions): Promise<ManagedSession> {
  const { bin, env, cwd, on, server, clientInfo, resume } = options;
  const { server: args, thread } = managedCodexArguments(options.args);
  let expected: Expected[] = [];
  let threadId = '';
  let running = false;

  /** A prompt has arrived when Codex shows it among the thread's own items. */
  function hear(event: CodexEvent): void {
    if (event.threadId !== threadId) return;
    const item = objectAt(event.params, 'item');
    if (item['type'] === 'userMessage') {
      const shown = JSON.stringify(item['content']);
      expected = expected.filter(({ text, come }) => {
        if (!shown.includes(JSON.stringify(text).slice(1, -1))) return true;
        come('runtime_record');
        return false;
      });
    }
    const report = describeEvent(event);
    if (report !== undefined) on.report(report);
  }

  function expectItem(text: string): Promise<ManagedProof> {
    const arrival = new Promise<ManagedProof>((come, refuse) => expected.push({ text, come, refuse }));
    arrival.catch(() => {});
    return arrival;
  }

  const codex = openCodex({
    bin,
    args,
    env,
    cwd,
    backend: 'app-server',
    clientInfo,
    onEvent: hear,
    onApproval(request) {
      on.ask({
        id: request.id,
        content: askOf(request),
        answer: (verdict) => request.respond((verdict && decisionOfVerdict(request, verdict)) ?? 'decline'),
      });
    },
    onApprovalClosed: (id, how) => on.askClosed(id, how),
    onExit: (exit) => on.exit(exit),
    log(level, message, facts) {
      if (level === 'warn') on.report({ event_type: 'warning', data: { message, ...facts } });
    },
  });

  const config = server && {
    // Required: it is waited for, where Codex begins a turn without the tools of others that are not there in a second.
    [`mcp_servers.${server.name}`]: {
      command: server.command,
      args: server.args,
      env: server.env,
      required: true,
    },
  };
  const about = { ...thread, cwd, ...(config === undefined ? {} : { config }) };
  try {
    const facts = await codex.start();
    if (resume === undefined) ({ threadId } = await codex.startThread(about));
    else {
      threadId = resume;
      await codex.resumeThread(resume, about);
    }
    const { version, pid } = facts;
    return {
      facts: { runtime: 'codex', version, pid, sessionId: threadId, can: { steer: facts.can.steer } },
      prompt(text) {
        if (running || !['idle', 'not_loaded', 'system_error'].includes(codex.status(threadId)))
          throw new RuntimeError('BUSY', 'a turn is running');
        running = true;
        const started = expectItem(text);
        const ended = codex
          .runTurn(threadId, { prompt: text })
          .then(endOf, (error: unknown) => failed(error))
          .then((end) => {
            running = false;
            const why = new RuntimeError('REFUSED', end.error ?? `the turn was ${end.status}`);
            for (const { refuse } of expected.splice(0)) refuse(why);
            return end;
          });
        return { started, ended };
      },
      async steer(text) {
        // It says itself that its turn has taken it; the item follows when the model is asked again.
        await codex.steer(threadId, { prompt: text });
        return 'runtime_status';
      },
      cancel: () => codex.interrupt(threadId),
      async close() {
        await codex.close();
      },
    };
  } catch (error) {
    await codex.close();
    throw error;
  }
}

function endOf({ status, text, error, durationMs, usage }: TurnResult): ManagedTurnEnd {
  const spent = spentByCodex(usage);
  return {
    status,
    text,
    durationMs,
    ...(error === undefined ? {} : { error: error.message }),
    ...(usage === undefined ? {} : { usage: { ...usage } }),
    ...(spent === undefined ? {} : { spent }),
  };
}

function failed(error: unknown): ManagedTurnEnd {
  const why = error instanceof Error ? error.message : String(error);
  return { status: 'failed', text: '', error: why, durationMs: 0 };
}
