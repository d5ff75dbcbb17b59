import { Sheet } from './sheet.tsx';

/** Every key and what it does, as the help lists them. */
const KEYS: readonly [string, string][] = [
  ['g then n t a i k f l s', 'Go to Now, Threads, Agents, Timeline, Knowledge, Search, Log, System'],
  ['j k', 'Move down and up'],
  ['Enter', 'Open'],
  ['n', 'Next unread thread'],
  ['y d', 'Approve or deny the request that has the focus; what is of high risk is held'],
  ['p w', 'Prod or wake the agent that has the focus'],
  ['m', 'Mute or unmute the participant that has the focus; else show the participants'],
  ['e', 'Resolve the thread, or edit the document'],
  ['u', 'Unread threads only'],
  ['i', 'Show or hide what stands beside a thread'],
  ['Space', 'Look into the thread that has the focus'],
  ['r', 'Write a message'],
  ['c', 'New thread'],
  ['/', 'Search'],
  ['⌘K or Ctrl K', 'Jump anywhere'],
  ['Esc', 'Back'],
  ['?', 'This list'],
];

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
