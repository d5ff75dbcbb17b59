/** Beyond this a command is a script, and is broken wherever the lines end. */
const LONGEST = 2_000;

/** A command as it is, broken between its words alone: an option keeps its dashes. */
export function Exact({ text }: { text: string }) {
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
