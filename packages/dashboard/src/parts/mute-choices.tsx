import { useEffect, useRef } from 'preact/hooks';

import { control } from '../data/actions.ts';

const SPANS: readonly (readonly [string, number | undefined])[] = [
  ['15 min', 900],
  ['1 h', 3_600],
  ['Until I undo', undefined],
];

/** For how long somebody is not to speak here. */
export function MuteChoices({
  threadId,
  name,
  onDone,
}: {
  threadId: string;
  name: string;
  onDone: () => void;
}) {
  const choices = useRef<HTMLDivElement>(null);
  useEffect(() => choices.current?.querySelector('button')?.focus(), []);
  const mute = async (word: string, seconds: number | undefined): Promise<void> => {
    const end = seconds === undefined ? {} : { for_seconds: seconds };
    const said = seconds === undefined ? `${name} is muted here.` : `${name} is muted here for ${word}.`;
    if (await control(threadId, { mute: { targets: [name], mode: 'hard', ...end } }, said)) onDone();
  };
  return (
    <div ref={choices} class="mute-choices" role="group" aria-label={`Mute ${name} for`}>
      {SPANS.map(([word, seconds]) => (
        <button key={word} type="button" class="button" onClick={() => void mute(word, seconds)}>
          {word}
        </button>
      ))}
    </div>
  );
}
