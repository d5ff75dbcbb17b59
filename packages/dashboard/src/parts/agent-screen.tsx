import { useState } from 'preact/hooks';

import { Icon } from './icon.tsx';
import { later } from './later.tsx';
import { Section } from './page.tsx';

/** The command by which a supervisor lets the terminal it has in hand be followed. */
export const SCREEN_COMMAND = 'terminal_watch';

const AgentTerminal = later(async () => (await import('../terminal/agent-terminal.tsx')).AgentTerminal, null);

/** The terminal of a session; that somebody looks is on record, so nobody looks unless asked to. */
export function AgentScreen({ agentId }: { agentId: string }) {
  const [open, show] = useState(false);
  return (
    <Section title="Screen">
      {open ? (
        <AgentTerminal agentId={agentId} onClose={() => show(false)} />
      ) : (
        <div class="screen-offer">
          <button type="button" class="button" onClick={() => show(true)}>
            <Icon name="eye" /> Watch live
          </button>
          <p class="meta">
            What its program shows, as it happens. From there you can take over its keyboard.
          </p>
        </div>
      )}
    </Section>
  );
}
