import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

const HOLD_MS = 1_000;

/** A button for what must not happen by mistake: it acts when it was held for a second, by finger, mouse or key. */
export function HoldButton({
  children,
  disabled = false,
  look = 'button-danger button-wide',
  onHeld,
}: {
  children: ComponentChildren;
  disabled?: boolean;
  look?: string;
  onHeld: () => void;
}) {
  const [held, hold] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const release = (): void => {
    clearTimeout(timer.current);
    hold(false);
  };
  const begin = (): void => {
    if (disabled) return;
    release();
    hold(true);
    timer.current = setTimeout(() => {
      release();
      onHeld();
    }, HOLD_MS);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const isPress = ({ key }: KeyboardEvent): boolean => key === ' ' || key === 'Enter';
  return (
    <button
      type="button"
      class={`${look} hold${held ? ' hold-held' : ''}`}
      disabled={disabled}
      onPointerDown={begin}
      onPointerUp={release}
      onPointerLeave={release}
      onPointerCancel={release}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (!isPress(event)) return;
        event.preventDefault();
        if (!event.repeat) begin();
      }}
      onKeyUp={release}
      onBlur={release}
    >
      <span>{children}</span>
    </button>
  );
}
