import { showUnseen } from '@parley/protocol';

/** Beyond this a command is a script, and is broken wherever the lines end. */
const LONGEST = 2_000;

/** A command as it is with nothing in it unseen, broken between its words alone: an option keeps its dashes. */
export function Exact({ text: given }: { text: string }) {
  const text = showUnseen(given);
  if (text.length > LONGEST) return <>{text}</>;
  const parts = text.split(/(\s+)/);
  return (
    <>
      {parts.map((part, i) =>
        i % 2 === 1 ? (
          part
        ) : (
          <span key={i} class="whole">
            {part}
          </span>
        ),
      )}
    </>
  );
}
