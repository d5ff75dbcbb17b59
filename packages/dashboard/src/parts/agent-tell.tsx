import { type AgentView, plainWords } from '@parley/protocol';
import { useState } from 'preact/hooks';

import { attempt, threadOf } from '../data/actions.ts';
import { call, newKey } from '../data/api.ts';
import { Icon } from './icon.tsx';
import { Sheet } from './sheet.tsx';
import { say } from './toast.tsx';

type Way = 'message' | 'prompt' | 'interrupt' | 'stop';

const TITLE_LENGTH = 60;

/** Tells an agent something in plain words: a message always, and what it takes while it is connected. */
export function AgentTell({ agent }: { agent: AgentView }) {
  const { agent_id, capabilities, connected } = agent;
  const [open, show] = useState<Way | undefined>();
  const takes = (name: string): boolean => connected.length > 0 && capabilities.includes(name);
  const button = (way: Way, icon: Parameters<typeof Icon>[0]['name'], label: string) => (
    <button type="button" class="button" onClick={() => show(way)}>
      <Icon name={icon} /> {label}
    </button>
  );
  return (
    <>
      {button('message', 'send', 'Message')}
      {takes('prompt') ? button('prompt', 'play', 'Prompt') : null}
      {takes('cancel') ? button('interrupt', 'pause', 'Interrupt') : null}
      {takes('stop') ? button('stop', 'cross', 'Stop') : null}
      {open === 'message' || open === 'prompt' ? (
        <Words agentId={agent_id} way={open} onClose={() => show(undefined)} />
      ) : null}
      {open === 'interrupt' || open === 'stop' ? (
        <Sure agentId={agent_id} way={open} onClose={() => show(undefined)} />
      ) : null}
    </>
  );
}

const WORDS = {
  message: {
    title: (id: string) => `Message to ${id}`,
    note: 'It is posted in a thread, where others can read it. The agent is called, and woken if the hub can wake it.',
    done: 'Sent.',
  },
  prompt: {
    title: (id: string) => `Prompt ${id}`,
    note: 'It starts a turn with these words, or takes them next if it is at work. They are recorded in its journal only.',
    done: '',
  },
} as const;

function Words({
  agentId,
  way,
  onClose,
}: {
  agentId: string;
  way: 'message' | 'prompt';
  onClose: () => void;
}) {
  const [text, write] = useState('');
  const [busy, work] = useState(false);
  const { title, note } = WORDS[way];
  const send = async (): Promise<void> => {
    work(true);
    const words = text.trim();
    const isDone = await attempt(() => (way === 'message' ? post(agentId, words) : prompt(agentId, words)));
    work(false);
    if (isDone) onClose();
  };
  return (
    <Sheet title={title(agentId)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <p class="meta">{note}</p>
        <label class="field">
          <span>Words</span>
          <textarea
            rows={4}
            required
            dir="auto"
            value={text}
            onInput={(event) => write(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button-primary button-wide" disabled={busy || text.trim() === ''}>
          {busy ? 'One moment' : 'Send'}
        </button>
      </form>
    </Sheet>
  );
}

/** Says it in the newest open thread with the agent, or in a new one. */
async function post(agentId: string, body: string): Promise<void> {
  const title = plainWords(body).slice(0, TITLE_LENGTH);
  const thread_id =
    threadOf(agentId)?.thread_id ??
    (await call('create_thread', { title, participants: [agentId], idempotency_key: newKey() })).thread_id;
  await call('post_message', { thread_id, schema_version: 1, body, to: agentId, idempotency_key: newKey() });
  say(WORDS.message.done);
}

async function prompt(agentId: string, words: string): Promise<void> {
  const { success, result, error } = await command(agentId, 'prompt', { prompt: words });
  if (!success) throw new Error(error?.message ?? `${agentId} did not take it.`);
  // Sessions answer so by their contract; others may say nothing of it.
  const queued = (result as { queued?: boolean } | null | undefined)?.queued === true;
  say(queued ? `${agentId} is at work and takes it next.` : `${agentId} has started.`);
}

const SURE = {
  interrupt: {
    command: 'cancel',
    title: (id: string) => `Interrupt ${id}?`,
    note: 'Its current turn stops. What it has done so far stays done, and its session takes the next prompt.',
    label: 'Interrupt it',
  },
  stop: {
    command: 'stop',
    title: (id: string) => `Stop ${id}?`,
    note: 'The agent is asked to end. What it has done so far stays done, and what it said stays on record.',
    label: 'Stop it',
  },
} as const;

function Sure({
  agentId,
  way,
  onClose,
}: {
  agentId: string;
  way: 'interrupt' | 'stop';
  onClose: () => void;
}) {
  const { command: name, title, note, label } = SURE[way];
  const act = (): Promise<boolean> =>
    attempt(async () => {
      const { success, result, error } = await command(agentId, name, {});
      if (!success) throw new Error(error?.message ?? `${agentId} did not take it.`);
      // As with a prompt.
      const cancelled = (result as { cancelled?: boolean } | null | undefined)?.cancelled;
      say(cancelled === false ? `${agentId} had nothing to break off.` : `${agentId} did as it was told.`);
    });
  return (
    <Sheet title={title(agentId)} onClose={onClose}>
      <p>{note}</p>
      <button
        type="button"
        class="button-primary button-wide"
        onClick={() => {
          onClose();
          void act();
        }}
      >
        {label}
      </button>
    </Sheet>
  );
}

function command(agentId: string, name: string, parameters: Record<string, unknown>) {
  return call('command_agent', { of_agent: agentId, command: name, parameters, idempotency_key: newKey() });
}
