import { keysOf } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { attempt, maySteer } from '../data/actions.ts';
import { call, newKey } from '../data/api.ts';
import { conversations, fleet, me, typed } from '../data/state.ts';
import { go } from '../router.ts';
import { isFirstTime, keepSteps } from './steps-open.ts';
import { CodeLine } from './code-line.tsx';
import { Icon } from './icon.tsx';
import { PairSheet } from './pair-sheet.tsx';

const CLIENTS = {
  'Claude Code': 'init claude',
  Codex: 'init codex',
  'Anything else': 'init mcp',
} as const;

type ClientName = keyof typeof CLIENTS;

const LOOK_MS = 3_000;

/** The way from an empty hub to the first answer; each step turns green by itself when it is done. */
export function FirstSteps() {
  const [client, choose] = useState<ClientName>('Claude Code');
  const [pairing, pair] = useState(false);
  const further = useFurtherDevice(pairing);
  const workspace = me.value?.workspace_id ?? 'default';
  const connected = fleet.value[0];
  const talked = conversations.value[0];
  const done = connected !== undefined && talked !== undefined && further !== undefined;
  useEffect(() => {
    if (isFirstTime()) keepSteps(true);
  }, []);
  useEffect(() => {
    if (further !== undefined) pair(false);
  }, [further]);
  return (
    <>
      <div class="steps-head">
        <p class="lead">
          {done ? 'All three are done.' : 'Three steps, and your agents talk where you can see it.'}
        </p>
        {connected === undefined ? null : (
          <button type="button" class="button" onClick={() => keepSteps(false)}>
            {done ? 'Done' : 'Hide'}
          </button>
        )}
      </div>
      <ol class="steps">
        <Step
          number={1}
          title="Connect an agent"
          done={connected !== undefined}
          note={connected === undefined ? undefined : `${connected.agent_id} is here.`}
        >
          <div class="segments" role="tablist" aria-label="Which agent">
            {keysOf(CLIENTS).map((name) => (
              <button
                key={name}
                type="button"
                role="tab"
                aria-selected={name === client}
                onClick={() => choose(name)}
              >
                {name}
              </button>
            ))}
          </div>
          <CodeLine
            text={typed(CLIENTS[client]) + (workspace === 'default' ? '' : ` --workspace ${workspace}`)}
          />
          <p class="meta">
            Run it in a terminal, then start the agent
            {client === 'Anything else' ? ' with what it prints' : ''}. This step turns green when the hub
            hears of it.
          </p>
        </Step>
        <Step
          number={2}
          title="Say hello"
          done={talked !== undefined}
          note={talked === undefined ? undefined : talked.title}
        >
          <button
            type="button"
            class="button-primary"
            disabled={!maySteer() || connected === undefined}
            onClick={() => void hello(connected?.agent_id ?? '')}
          >
            <Icon name="send" /> Start a thread{connected === undefined ? '' : ` with ${connected.agent_id}`}
          </button>
        </Step>
        <Step
          number={3}
          title="Put it on your tablet"
          done={further !== undefined}
          note={further === undefined ? undefined : `${further} is signed in.`}
        >
          <button type="button" class="button" disabled={!maySteer()} onClick={() => pair(true)}>
            <Icon name="device" /> Show the code
          </button>
        </Step>
      </ol>
      {pairing ? <PairSheet onClose={() => pair(false)} /> : null}
    </>
  );
}

/** The name of another device of this person; while one is awaited it is looked for again and again. */
function useFurtherDevice(awaited: boolean): string | undefined {
  const [name, set] = useState<string | undefined>();
  useEffect(() => {
    if (name !== undefined) return undefined;
    const look = async (): Promise<void> => {
      const { devices } = await call('list_devices', {});
      const { agent_id, device_id } = me.value ?? {};
      set(devices.find((one) => one.agent_id === agent_id && one.device_id !== device_id)?.name);
    };
    // A step that is not known to be done stays open: that is all a failed look means.
    const again = (): void => void look().catch(() => {});
    again();
    if (!awaited) return undefined;
    const timer = setInterval(again, LOOK_MS);
    return () => clearInterval(timer);
  }, [name, awaited]);
  return name;
}

interface StepProps {
  number: number;
  title: string;
  done: boolean;
  note?: string | undefined;
  children: preact.ComponentChildren;
}

function Step({ number, title, done, note, children }: StepProps) {
  return (
    <li class={done ? 'step step-done' : 'step'}>
      <span class="step-mark" aria-hidden="true">
        {done ? <Icon name="check" /> : number}
      </span>
      <div class="step-body">
        <h2>
          {title}
          {done ? <span class="sr"> (done)</span> : null}
        </h2>
        {done ? <p class="meta">{note}</p> : children}
      </div>
    </li>
  );
}

async function hello(agentId: string): Promise<void> {
  await attempt(async () => {
    const { thread_id } = await call('create_thread', {
      title: 'Hello',
      participants: [agentId],
      idempotency_key: newKey(),
    });
    const body = `Hello @${agentId}. Please answer here, so that we know the line is good.`;
    await call('post_message', { thread_id, schema_version: 1, body, idempotency_key: newKey() });
    go(`/t/${thread_id}`);
  });
}
