import { signal } from '@preact/signals';

interface Toast {
  id: number;
  text: string;
  kind: 'good' | 'bad';
  undo?: (() => void) | undefined;
}

const toasts = signal<readonly Toast[]>([]);
let count = 0;

/** Says something in passing, and offers to take it back where that can be done; what needs thought stays longer. */
export function say(text: string, kind: Toast['kind'] = 'good', undo?: () => void): void {
  const id = ++count;
  toasts.value = [...toasts.value.slice(-2), { id, text, kind, undo }];
  setTimeout(() => drop(id), kind === 'bad' || undo !== undefined ? 8_000 : 3_500);
}

function drop(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Where what is said in passing appears; read out to those who do not see it. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, kind, undo }) => (
        <div key={id} class={`toast toast-${kind}`}>
          <span>{text}</span>
          {undo === undefined ? null : (
            <button
              type="button"
              class="toast-undo"
              onClick={() => {
                drop(id);
                undo();
              }}
            >
              Undo
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
