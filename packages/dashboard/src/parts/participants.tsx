import { useState } from 'preact/hooks';

import { control, maySteer, wake } from '../data/actions.ts';
import { agentById, fleet, me, presence, type ThreadRow } from '../data/state.ts';
import { whenTime } from '../time.ts';
import { STATE_WORDS } from '../words.ts';
import { ProdButton } from './agent-row.tsx';
import { Avatar } from './avatar.tsx';
import { Icon } from './icon.tsx';
import { MuteChoices } from './mute-choices.tsx';

/** Who takes part in a thread, how they are, and what a person can do about it. */
export function Participants({ thread }: { thread: ThreadRow }) {
  const { thread_id, participants, muted = [], muted_until = {}, status } = thread;
  const [muting, mute] = useState<string | undefined>();
  const there = presence.value.get(thread_id);
  const steer = maySteer() && status !== 'closed';
  return (
    <ul class="people">
      {participants.map((name) => {
        const agent = agentById.value.get(name);
        const isMuted = muted.includes(name);
        const self = name === me.value?.agent_id;
        const how =
          there?.get(name) ?? (agent === undefined ? undefined : STATE_WORDS[agent.state].toLowerCase());
        return (
          <li key={name} class="person" data-agent={name}>
            <a class="person-name" data-row href={`/agents/${encodeURIComponent(name)}`}>
              <Avatar name={name} size="s" state={agent?.state} />
              <span>
                {name}
                <span class="meta">
                  {[self ? 'you' : how, isMuted ? mutedFor(muted_until[name]) : undefined]
                    .filter((part) => part !== undefined)
                    .join(' · ')}
                </span>
              </span>
            </a>
            {steer && !self && agent !== undefined ? (
              <span class="person-actions">
                {agent.state === 'offline' ? (
                  <button type="button" class="button" onClick={() => void wake(name, thread_id)}>
                    <Icon name="bell" /> Wake
                  </button>
                ) : (
                  <ProdButton agentId={name} threadId={thread_id} />
                )}
                <button
                  type="button"
                  class="button icon-button"
                  data-key="m"
                  aria-label={isMuted ? `Let ${name} speak again` : `Mute ${name}`}
                  aria-pressed={isMuted}
                  aria-expanded={isMuted ? undefined : muting === name}
                  onClick={() =>
                    isMuted
                      ? void control(thread_id, { unmute: { targets: [name] } }, `${name} may speak again.`)
                      : mute(muting === name ? undefined : name)
                  }
                >
                  <Icon name={isMuted ? 'unmute' : 'mute'} />
                </button>
              </span>
            ) : null}
            {steer && muting === name && !isMuted ? (
              <MuteChoices threadId={thread_id} name={name} onDone={() => mute(undefined)} />
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}

function mutedFor(until: string | undefined): string {
  return until === undefined ? 'muted' : `muted until ${whenTime(until)}`;
}

/** Makes one more agent a participant. */
export function Invite({ thread }: { thread: ThreadRow }) {
  const [name, write] = useState('');
  const others = fleet.value
    .map(({ agent_id }) => agent_id)
    .filter((id) => !thread.participants.includes(id));
  return (
    <form
      class="invite"
      onSubmit={(event) => {
        event.preventDefault();
        void control(thread.thread_id, { invite: { participant_id: name } }, `${name} was invited.`).then(
          (done) => (done ? write('') : undefined),
        );
      }}
    >
      <label class="field">
        <span>Invite</span>
        <input
          list="invitees"
          value={name}
          placeholder="agent name"
          pattern="[A-Za-z0-9][A-Za-z0-9._:@\-]*"
          onInput={(event) => write(event.currentTarget.value)}
        />
      </label>
      <datalist id="invitees">
        {others.map((id) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <button type="submit" class="button" disabled={name === ''}>
        <Icon name="plus" /> Invite
      </button>
    </form>
  );
}
