import { expect, test } from 'vitest';

import { tablesOf, withTables } from './codex-tables.ts';

const OURS =
  '[mcp_servers.parley]\ncommand = "node"\nargs = ["mcp"]\n\n[mcp_servers.parley.env]\nA = "[b]"\n';

/** Files as people have them. */
const FILES: [string, string][] = [
  ['nothing', ''],
  ['a model', 'model = "gpt-5"\n'],
  ['comments, no end of line', '# mine\nmodel = "gpt-5" # the usual one'],
  [
    'another server, laid out by hand',
    '# servers\n[mcp_servers.files]  # local\nargs = [ "-y",\n  "fs" ]\n\n\n[tui]\nnotifications = true\n',
  ],
  ['a server whose name begins as ours', '[mcp_servers.parley-two]\ncommand = "x"\n\n[mcp_servers."a.b"]\n'],
  [
    'projects, tools and a list of tables',
    '[projects."/x"]\ntrust_level = "trusted"\n\n[[hooks.stop]]\na = 1\n',
  ],
  ['line ends of Windows', '# mine\r\nmodel = "x"\r\n\r\n[tui]\r\ntheme = "a"\r\n'],
  ['empty lines at the end', 'model = "x"\n\n\n'],
];

test.each(FILES)('%s: our tables go in at the end and out again, all else is as it was', (_what, text) => {
  const whole = withTables(text, OURS);
  expect(whole.startsWith(text)).toBe(true);
  const { own, rest } = tablesOf(whole, 'parley');
  expect(own).toBe(OURS);
  // A last line without an end has one now.
  expect(rest).toBe(text === '' || text.endsWith('\n') ? text : `${text}\n`);
});

test('what a person has put behind, between or before our tables since is theirs', () => {
  const text = `model = "x"\n\n${OURS}# later\n\n# of the screen\n[tui]\na = 1\n`;
  expect(tablesOf(text, 'parley').rest).toBe('model = "x"\n# later\n\n# of the screen\n[tui]\na = 1\n');
  expect(tablesOf('[ mcp_servers . "parley" ]\n# theirs, inside\na = 1\n', 'parley')).toEqual({
    own: '[ mcp_servers . "parley" ]\n# theirs, inside\na = 1\n',
    rest: '',
  });
});
