import { Exact } from './exact.tsx';
import { Icon } from './icon.tsx';
import { say } from './toast.tsx';

/** A command to be copied into a terminal. */
export function CodeLine({ text }: { text: string }) {
  return (
    <div class="code-line">
      <code>
        <Exact text={text} />
      </code>
      <button
        type="button"
        class="button-quiet icon-button"
        aria-label={`Copy: ${text}`}
        onClick={() => void copy(text)}
      >
        <Icon name="copy" />
      </button>
    </div>
  );
}

/** Puts a text onto the clipboard; where the page may not, it says so. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say('Copied.');
  } catch {
    say('This browser keeps the clipboard to itself: select the text and copy it.', 'bad');
  }
}
