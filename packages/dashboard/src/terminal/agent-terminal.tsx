import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { me } from '../data/state.ts';
import { HoldButton } from '../parts/hold-button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { say } from '../parts/toast.tsx';
import { clockTime, left } from '../time.ts';
import { Grid } from './grid.tsx';
import { KeyBar } from './key-bar.tsx';
import { pasteBytes } from './key-bytes.ts';
import { Keyboard } from './keyboard.tsx';
import { openTerminal, type Terminal } from './open-terminal.ts';
import { useFilledView } from './use-filled-view.ts';

/** A line below which more time is offered. */
const SHORT_MS = 60_000;

/** The terminal of an agent, live; whoever may take it over types into it. */
export function AgentTerminal({ agentId, onClose }: { agentId: string; onClose: () => void }) {
  const [session, choose] = useState<string | undefined>();
  const [terminal, set] = useState<Terminal | undefined>();
  useEffect(() => {
    const opened = openTerminal(agentId, session);
    set(opened);
    return () => opened.close();
  }, [agentId, session]);
  if (terminal === undefined) return null;
  const standing = terminal.standing.value;
  if (standing.is === 'nothing')
    return (
      <>
        <p class="ask-failed">{standing.message}</p>
        {standing.sessions?.map((name) => (
          <button key={name} type="button" class="button" onClick={() => choose(name)}>
            {name}
          </button>
        ))}
      </>
    );
  return <Shown terminal={terminal} name={agentId} onClose={onClose} />;
}

function Shown({ terminal, name, onClose }: { terminal: Terminal; name: string; onClose: () => void }) {
  const [wide, widen] = useState(false);
  const [zoom, step] = useState(0);
  const [ctrl, holdCtrl] = useState(false);
  const [lines, ask] = useState<string | undefined>();
  const input = useRef<HTMLTextAreaElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const until = terminal.mine.value;
  const held = until !== undefined;
  const { modes, title = '' } = terminal.head.value ?? {};
  const appCursor = modes?.app_cursor === true;

  // Before it is seen: the first key is the program's too.
  useLayoutEffect(() => {
    if (!held) return holdCtrl(false);
    // A small screen has no room beside it for anything else.
    if (matchMedia('(max-width: 900px)').matches) widen(true);
    input.current?.focus({ preventScroll: true });
  }, [held]);
  useFilledView(box, wide);

  const type = (keys: string): void => terminal.type(keys);
  const paste = (text: string): void => {
    if (text === '') return;
    // Without markers each line would be entered as it comes.
    if (modes?.paste !== true && /[\r\n]/.test(text.trimEnd())) ask(text);
    else terminal.type(pasteBytes(text, modes?.paste === true));
  };
  const pasteFromDevice = (): void => {
    // A page that is not served securely has no clipboard.
    const clipboard = navigator.clipboard as Clipboard | undefined;
    if (clipboard?.readText === undefined) {
      input.current?.focus();
      return say('This browser gives no clipboard here: paste with its own menu or keys.', 'bad');
    }
    clipboard.readText().then(paste, () => say('The browser did not allow access to the clipboard.', 'bad'));
  };

  return (
    <div ref={box} class={`terminal${wide ? ' terminal-wide' : ''}${held ? ' terminal-held' : ''}`}>
      <header class="t-bar">
        <span class="t-title">{title === '' ? name : title}</span>
        <button type="button" class="t-key" aria-label="A−, smaller" onClick={() => step(zoom - 1)}>
          A−
        </button>
        <button type="button" class="t-key" aria-label="A+, larger" onClick={() => step(zoom + 1)}>
          A+
        </button>
        <button type="button" class="t-key" aria-pressed={wide} onClick={() => widen(!wide)}>
          Full screen
        </button>
        <button
          type="button"
          class="t-key"
          aria-label="Stop watching"
          onClick={() => {
            terminal.giveBack();
            onClose();
          }}
        >
          <Icon name="cross" />
        </button>
      </header>
      <Grid
        terminal={terminal}
        name={name}
        zoom={zoom}
        onPress={() => {
          if (held && getSelection()?.isCollapsed !== false) input.current?.focus({ preventScroll: true });
        }}
      >
        {held ? (
          <Keyboard
            input={input}
            name={name}
            appCursor={appCursor}
            ctrl={ctrl}
            onCtrl={holdCtrl}
            onKeys={type}
            onPaste={paste}
            onLeave={() => terminal.giveBack()}
          />
        ) : null}
      </Grid>
      {held ? (
        <KeyBar
          appCursor={appCursor}
          ctrl={ctrl}
          onCtrl={holdCtrl}
          onKeys={type}
          onPaste={pasteFromDevice}
          onKeyboard={() => input.current?.focus()}
        />
      ) : null}
      <Footer terminal={terminal} name={name} />
      {lines === undefined ? null : (
        <Sheet
          title={`Paste ${lines.trimEnd().split(/\r\n?|\n/).length} lines?`}
          onClose={() => ask(undefined)}
        >
          <p>This program takes each line as if you had pressed Enter after it.</p>
          <button
            type="button"
            class="button-primary button-wide"
            onClick={() => {
              ask(undefined);
              terminal.type(pasteBytes(lines, false));
            }}
          >
            Paste them
          </button>
        </Sheet>
      )}
    </div>
  );
}

/** Who types, for how long, and what can be done about it. */
function Footer({ terminal, name }: { terminal: Terminal; name: string }) {
  const until = terminal.mine.value;
  const notice = terminal.notice.value;
  const standing = terminal.standing.value;
  const lock = terminal.head.value?.lock ?? undefined;
  if (until !== undefined) {
    const { text, ms } = left(until);
    return (
      <div class="t-foot t-foot-held" role="status">
        <span>
          <b>You type here, {text} left.</b> Any key at the machine ends it
          <span class="t-keyed">; Shift+Esc gives it back</span>.
        </span>
        {ms < SHORT_MS ? (
          <button type="button" class="t-key" onClick={() => terminal.take()}>
            5 min more
          </button>
        ) : null}
        <button type="button" class="t-key t-key-strong" onClick={() => terminal.giveBack()}>
          Give back
        </button>
      </div>
    );
  }
  const text = footerText(terminal);
  return (
    <div class="t-foot" role="status">
      <span>{text}</span>
      {notice?.code === 'HUMAN_INPUT_COLLISION' ? <Insist terminal={terminal} name={name} /> : null}
      <button
        type="button"
        class="t-key t-key-strong"
        disabled={standing.is !== 'live' || lock !== undefined}
        onClick={() => terminal.take()}
      >
        Take over
      </button>
    </div>
  );
}

/** How it stands, for whoever only looks. */
function footerText({ standing, notice, head }: Terminal): string {
  const { value: now } = standing;
  if (now.is === 'opening') return 'Opening';
  if (now.is === 'away') return `Not connected: ${now.message}`;
  if (now.is === 'ended') return 'The program has ended.';
  if (notice.value !== undefined) return notice.value.text;
  const lock = head.value?.lock ?? undefined;
  if (lock === undefined) return 'Live';
  const who = lock.holder === me.value?.agent_id ? 'You type' : `${lock.holder} types`;
  return `${who} here from elsewhere until ${clockTime(lock.until)}`;
}

/** Takes over though somebody is in the midst of something there; who insists says why. */
function Insist({ terminal, name }: { terminal: Terminal; name: string }) {
  const [open, show] = useState(false);
  const [reason, write] = useState('');
  return (
    <>
      <button type="button" class="t-key" onClick={() => show(true)}>
        All the same
      </button>
      {open ? (
        <Sheet title={`Take over from the person at ${name}?`} onClose={() => show(false)}>
          <p>
            What they have begun to type stays where it is, and your keys come after it. Your name, this
            device and the reason stand in the journal.
          </p>
          <label class="field">
            <span>Why</span>
            <input value={reason} maxLength={300} onInput={(event) => write(event.currentTarget.value)} />
          </label>
          <HoldButton
            disabled={reason.trim() === ''}
            onHeld={() => {
              show(false);
              terminal.take({ force: { reason: reason.trim() } });
            }}
          >
            Hold for a second to take over
          </HoldButton>
        </Sheet>
      ) : null}
    </>
  );
}
