import type { ThreadCounts, ThreadWish } from '../data/thread-pages.ts';
import { fleet } from '../data/state.ts';
import { go } from '../router.ts';
import { byName, folderOf } from '../words.ts';
import { Icon } from './icon.tsx';
import { Segments } from './segments.tsx';

/** Narrows a list of threads by words of the title, by who takes part, by where they work, and by how they stand. */
export function ThreadFilters({ wish, counts }: { wish: ThreadWish; counts: ThreadCounts | undefined }) {
  const onChange = (next: ThreadWish): void => go(addressOf(next), 'replace');
  const names = fleet.value.map(({ agent_id }) => agent_id).toSorted(byName);
  const folders = [...new Set(fleet.value.map((agent) => folderOf(agent) ?? ''))]
    .filter((folder) => folder !== '')
    .toSorted(byName);
  return (
    <>
      <div class="filters">
        <label class="search">
          <Icon name="search" />
          <span class="sr">Threads by title</span>
          <input
            type="search"
            value={wish.text}
            maxLength={200}
            placeholder="Title"
            autocomplete="off"
            onInput={(event) => onChange({ ...wish, text: event.currentTarget.value })}
          />
        </label>
        <Choice
          label="Agent"
          every="Every agent"
          value={wish.agent}
          options={names}
          onChange={(agent) => onChange({ ...wish, agent })}
        />
        {folders.length === 0 && wish.folder === '' ? null : (
          <Choice
            label="Folder"
            every="Every folder"
            value={wish.folder}
            options={folders}
            onChange={(folder) => onChange({ ...wish, folder })}
          />
        )}
      </div>
      <Segments
        path={addressOf({ ...wish, which: '' })}
        value={wish.which}
        label="Which threads"
        options={[
          ['', 'Open', counts?.open ?? 0],
          ['unread', 'Unread', counts?.unread ?? 0],
          ['blocked', 'Blocked', counts?.blocked ?? 0],
          ['resolved', 'Done', counts?.done ?? 0],
        ]}
      />
    </>
  );
}

function Choice({
  label,
  every,
  value,
  options,
  onChange,
}: {
  label: string;
  every: string;
  value: string;
  options: readonly string[];
  onChange: (value: string) => void;
}) {
  // One that the address names stays, also when nobody is there any more.
  const all = value === '' || options.includes(value) ? options : [value, ...options];
  return (
    <label class={value === '' ? 'filter' : 'filter filter-on'}>
      <span class="sr">{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{every}</option>
        {all.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

function addressOf({ which, text, agent, folder }: ThreadWish): string {
  const query = new URLSearchParams(
    Object.entries({ f: which, q: text, agent, folder }).filter(([, value]) => value !== ''),
  ).toString();
  return query === '' ? '/threads' : `/threads?${query}`;
}
