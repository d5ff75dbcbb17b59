/** One server-sent event. */
export interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

/** Longest unfinished event that is kept: far above any message, far below any memory. */
const MAX_PENDING = 4_194_304;

/** Takes the text of a stream in pieces, however they are cut, and gives back the events that are whole. */
export function createEventParser(): (text: string) => ServerEvent[] {
  let rest = '';
  let lines: string[] = [];
  let pending = 0;
  return (text) => {
    const events: ServerEvent[] = [];
    const parts = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = parts.pop() ?? '';
    for (const line of parts) {
      pending += line.length;
      if (line !== '') {
        lines.push(line);
        continue;
      }
      const event = toEvent(lines);
      if (event !== undefined) events.push(event);
      lines = [];
      pending = 0;
    }
    if (pending + rest.length > MAX_PENDING) throw new Error('an event of the stream has no end');
    return events;
  };
}

function toEvent(lines: readonly string[]): ServerEvent | undefined {
  const event: ServerEvent = { id: '', event: 'message', data: '' };
  const data: string[] = [];
  for (const line of lines) {
    const mark = line.indexOf(':');
    const field = mark < 0 ? line : line.slice(0, mark);
    const value = mark < 0 ? '' : line.slice(mark + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    else if (field === 'id' || field === 'event') event[field] = value;
  }
  if (data.length === 0) return undefined;
  event.data = data.join('\n');
  return event;
}
