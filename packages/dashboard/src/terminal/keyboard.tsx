import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';

import { keyBytes, textBytes } from './key-bytes.ts';

/** Where keys are typed: those of a keyboard, of a touch screen, of an input method. What stands in it goes out at once. */
export function Keyboard({
  input,
  name,
  appCursor,
  ctrl,
  onCtrl,
  onKeys,
  onPaste,
  onLeave,
}: {
  input: RefObject<HTMLTextAreaElement | null>;
  name: string;
  appCursor: boolean;
  ctrl: boolean;
  onCtrl: (on: boolean) => void;
  onKeys: (bytes: string) => void;
  onPaste: (text: string) => void;
  /** Shift+Escape: the way out for whoever has only keys. */
  onLeave: () => void;
}) {
  const composing = useRef(false);

  function send(field: HTMLTextAreaElement): void {
    const { value } = field;
    field.value = '';
    if (value === '') return;
    const held = ctrl
      ? keyBytes({ key: value, ctrlKey: true, altKey: false, shiftKey: false }, appCursor)
      : undefined;
    onCtrl(false);
    onKeys(held ?? textBytes(value));
  }

  function press(event: KeyboardEvent): void {
    // Keys here are the program's and no one else's.
    event.stopPropagation();
    if (event.isComposing || event.metaKey) return;
    if (event.key === 'Escape' && event.shiftKey) {
      event.preventDefault();
      return onLeave();
    }
    // What the browser itself pastes, and what the layout makes of AltGr.
    if (event.ctrlKey && event.shiftKey && /^[vc]$/i.test(event.key)) return;
    if (event.getModifierState('AltGraph')) return;
    const { key, altKey, shiftKey } = event;
    const bytes = keyBytes(
      { key, altKey, shiftKey, ctrlKey: event.ctrlKey || (ctrl && key.length > 1) },
      appCursor,
    );
    if (bytes === undefined) return;
    event.preventDefault();
    if (key.length > 1) onCtrl(false);
    onKeys(bytes);
  }

  return (
    <textarea
      ref={input}
      class="t-input"
      aria-label={`Type into the terminal of ${name}`}
      rows={1}
      autocapitalize="off"
      autocomplete="off"
      autocorrect="off"
      spellcheck={false}
      onKeyDown={press}
      onKeyUp={(event) => event.stopPropagation()}
      onBeforeInput={(event) => {
        // Touch keyboards name no key: an empty field has nothing that they could delete.
        if (event.inputType === 'deleteContentBackward' && event.currentTarget.value === '') {
          event.preventDefault();
          onKeys('\u007f');
        }
      }}
      onInput={(event) => {
        if (!composing.current) send(event.currentTarget);
      }}
      onCompositionStart={() => (composing.current = true)}
      onCompositionEnd={(event) => {
        composing.current = false;
        send(event.currentTarget);
      }}
      onPaste={(event) => {
        event.preventDefault();
        onPaste(event.clipboardData?.getData('text/plain') ?? '');
      }}
    />
  );
}
