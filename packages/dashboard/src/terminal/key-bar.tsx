import { Icon } from '../parts/icon.tsx';
import { keyBytes } from './key-bytes.ts';

const KEYS: readonly (readonly [label: string, key: string, words: string])[] = [
  ['Esc', 'Escape', 'Esc'],
  ['Tab', 'Tab', 'Tab'],
  ['↑', 'ArrowUp', 'Up'],
  ['↓', 'ArrowDown', 'Down'],
  ['←', 'ArrowLeft', 'Left'],
  ['→', 'ArrowRight', 'Right'],
  ['⏎', 'Enter', 'Enter'],
];

/** Keys that a touch screen's own keyboard lacks. What has the focus keeps it, so that the keyboard stays open. */
export function KeyBar({
  appCursor,
  ctrl,
  onCtrl,
  onKeys,
  onPaste,
  onKeyboard,
}: {
  appCursor: boolean;
  /** The next key is held with Ctrl. */
  ctrl: boolean;
  onCtrl: (on: boolean) => void;
  onKeys: (bytes: string) => void;
  onPaste: () => void;
  onKeyboard: () => void;
}) {
  const stay = (event: Event): void => event.preventDefault();
  const press = (key: string): void => {
    const bytes = keyBytes({ key, ctrlKey: ctrl, altKey: false, shiftKey: false }, appCursor);
    onCtrl(false);
    if (bytes !== undefined) onKeys(bytes);
  };
  return (
    <div class="t-keys" role="toolbar" aria-label="Keys" onPointerDown={stay}>
      <button type="button" class="t-key t-touch" onClick={onKeyboard} aria-label="Show the keyboard">
        <Icon name="pencil" />
      </button>
      <button type="button" class="t-key" aria-pressed={ctrl} onClick={() => onCtrl(!ctrl)}>
        Ctrl
      </button>
      {KEYS.map(([label, key, words]) => (
        <button key={key} type="button" class="t-key" aria-label={words} onClick={() => press(key)}>
          {label}
        </button>
      ))}
      <button type="button" class="t-key" aria-label="Ctrl C" onClick={() => onKeys('\u0003')}>
        ^C
      </button>
      <button type="button" class="t-key" onClick={onPaste}>
        Paste
      </button>
    </div>
  );
}
