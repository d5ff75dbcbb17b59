import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { createEventParser } from './event-parser.ts';

const event = fc.record({
  id: fc.nat().map(String),
  event: fc.constantFrom('message', 'error'),
  data: fc.jsonValue().map((value) => JSON.stringify(value)),
});

test('events come out whole wherever the stream is cut and however its lines end', () => {
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.nat(200)),
      (events, end, cuts) => {
        const text = events
          .map(({ id, event: name, data }) =>
            [': alive', `id: ${id}`, `event: ${name}`, `data: ${data}`, '', ''].join(end),
          )
          .join('');
        const parse = createEventParser();
        const read = [];
        let at = 0;
        for (const cut of [...cuts, text.length]) {
          read.push(...parse(text.slice(at, at + cut)));
          at += cut;
        }
        // A lone CR may be half of a CRLF: the next character decides.
        read.push(...parse(':'));
        expect(read).toEqual(events);
      },
    ),
  );
});

test('data of several lines is joined, a comment is no event', () => {
  const parse = createEventParser();
  expect(parse(': alive\n\ndata: a\ndata: b\n\n')).toEqual([{ id: '', event: 'message', data: 'a\nb' }]);
});

test('an event without end is refused before it fills the memory', () => {
  const parse = createEventParser();
  const piece = 'x'.repeat(1_048_576);
  expect(() => {
    for (let i = 0; i < 8; i++) parse(piece);
  }).toThrow('no end');
});
