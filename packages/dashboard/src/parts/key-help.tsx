import { KEYS } from '../keys.ts';
import { Sheet } from './sheet.tsx';

/** The keys and what they do. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Sheet title="Keys" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys
                .split(' ')
                .map((key, i) =>
                  /^(then|or)$/.test(key) ? <span key={i}>{key}</span> : <kbd key={i}>{key}</kbd>,
                )}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Sheet>
  );
}
