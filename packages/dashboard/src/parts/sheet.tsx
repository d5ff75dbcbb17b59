import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

import { Icon } from './icon.tsx';

interface SheetProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** A side panel's worth of content instead of a few choices. */
  wide?: boolean;
}

/** Choices or facts above the page: from below on small screens, in the middle on large ones. */
export function Sheet({ title, onClose, children, wide = false }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Open before it is drawn: whoever sees it can close it by a key.
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? 'sheet sheet-wide' : 'sheet'}
      aria-labelledby={id}
      // Escape is told of before the browser says that it is closed: the next key may come in between.
      onCancel={onClose}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div class="sheet-body">
        <header class="sheet-head">
          <h2 id={id}>{title}</h2>
          <button
            type="button"
            class="button-quiet icon-button"
            aria-label="Close"
            onClick={() => dialog.current?.close()}
          >
            <Icon name="cross" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
