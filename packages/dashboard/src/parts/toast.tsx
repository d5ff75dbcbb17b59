import { signal } from '@preact/signals';

interface Toast {
  id: number;
  text: string;
  kind: 'good' | 'bad';
}

const toasts = signal<readonly Toast[]>([]);
let count = 0;

/** Says something in passing; what went wrong stays longer. */
export function say(text: string, kind: Toast['kind'] = 'good'): void {
  const id = ++count;
  toasts.value = [...toasts.value.slice(-2), { id, text, kind }];
  setTimeout(
    () => (toasts.value = toasts.value.filter((toast) => toast.id !== id)),
    kind === 'bad' ? 8_000 : 3_500,
  );
}

/** Where what is said in passing appears; read out to those who do not see it. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, kind }) => (
        <div key={id} class={`toast toast-${kind}`}>
          {text}
        </div>
      ))}
    </div>
  );
}
