import type { AgentView, OutputOf } from '@parley/protocol';
import { useState } from 'preact/hooks';

import { call, newKey, wordsOf } from '../data/api.ts';
import { Icon } from './icon.tsx';
import { Sheet } from './sheet.tsx';

type CommandOutput = OutputOf<'command_agent'>;

/** Sends an agent one of the commands it takes and shows what it answers. */
export function AgentCommands({ agent }: { agent: AgentView }) {
  const [open, show] = useState(false);
  const [command, choose] = useState(agent.capabilities[0] ?? '');
  const [parameters, write] = useState('');
  const [answer, set] = useState<CommandOutput | string | undefined>();
  const [busy, work] = useState(false);
  if (agent.connected.length === 0) return null;
  const run = async (): Promise<void> => {
    work(true);
    set(undefined);
    try {
      const given =
        // The hub refuses what is no object.
        parameters.trim() === '' ? {} : { parameters: JSON.parse(parameters) as Record<string, unknown> };
      set(
        await call('command_agent', {
          of_agent: agent.agent_id,
          command,
          ...given,
          idempotency_key: newKey(),
        }),
      );
    } catch (error) {
      set(error instanceof SyntaxError ? 'The parameters are not JSON.' : wordsOf(error));
    } finally {
      work(false);
    }
  };
  return (
    <>
      <button type="button" class="button" onClick={() => show(true)}>
        <Icon name="more" /> Other command
      </button>
      {open ? (
        <Sheet title={`Command ${agent.agent_id}`} onClose={() => show(false)}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void run();
            }}
          >
            <label class="field">
              <span>Command</span>
              {agent.capabilities.length === 0 ? (
                <input value={command} required onInput={(event) => choose(event.currentTarget.value)} />
              ) : (
                <select value={command} onChange={(event) => choose(event.currentTarget.value)}>
                  {agent.capabilities.map((name) => (
                    <option key={name}>{name}</option>
                  ))}
                </select>
              )}
            </label>
            <label class="field">
              <span>Parameters (JSON)</span>
              <textarea
                class="mono"
                rows={3}
                value={parameters}
                placeholder='{"taskId":"TASK-1"}'
                onInput={(event) => write(event.currentTarget.value)}
              />
            </label>
            <button type="submit" class="button-primary button-wide" disabled={busy || command === ''}>
              {busy ? 'Waiting for the answer' : 'Send'}
            </button>
          </form>
          {answer === undefined ? null : (
            <pre class="command" tabIndex={0}>
              {typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2)}
            </pre>
          )}
        </Sheet>
      ) : null}
    </>
  );
}
