import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { claudeHooks } from '../../../wake/claude-hooks.ts';
import { hasClaudeHooks, withClaudeHooks } from './claude-settings.ts';
import { openConfigFile } from './config-file.ts';
import { changeConfig, undoConfig } from './edit-config.ts';
import { FILE_CLIENTS, withServer } from './file-clients.ts';
import { type JsonText, readJsonText } from './json-text.ts';

const SERVER = ['/usr/bin/node', '/opt/parley.mjs', 'mcp', '--usual-agent', 'x'];
const HOOKS = claudeHooks(SERVER, 'parley');

interface Change {
  add: (text: JsonText) => JsonText;
  remove: (text: JsonText) => JsonText;
  isThere: (text: JsonText) => boolean;
}
const inFile = (name: keyof typeof FILE_CLIENTS): Change => ({
  add: (text) => withServer(FILE_CLIENTS[name], text, 'parley', SERVER),
  remove: (text) => withServer(FILE_CLIENTS[name], text, 'parley', undefined),
  isThere: (text) =>
    JSON.stringify(FILE_CLIENTS[name].words(text.get(FILE_CLIENTS[name].place('parley')))) ===
    JSON.stringify(SERVER),
});
const hooks: Change = {
  add: (text) => withClaudeHooks(text, 'parley', HOOKS),
  remove: (text) => withClaudeHooks(text, 'parley', undefined),
  isThere: (text) => hasClaudeHooks(text, 'parley'),
};
const gemini = inFile('gemini');
const opencode = inFile('opencode');

/** Configurations as people have them: name, whose, text. */
const FILES: [string, Change, string][] = [
  [
    'opencode: a line of servers with a comma at its end',
    opencode,
    '{"mcp": {"x": {"type": "local", "command": ["a"]},}, "theme": "dark"}\n',
  ],
  ['Claude: an empty object', hooks, '{}'],
  ['Claude: an empty file', hooks, ''],
  [
    'Claude: permissions, two spaces',
    hooks,
    '{\n  "permissions": {\n    "allow": ["Bash(npm test:*)", "Read(~/.zshrc)"],\n    "deny": []\n  },\n  "includeCoAuthoredBy": false\n}\n',
  ],
  [
    'Claude: four spaces, no end of line',
    hooks,
    '{\n    "model": "opus",\n    "env": {\n        "FOO": "1"\n    }\n}',
  ],
  [
    'Claude: tabs',
    hooks,
    '{\n\t"statusLine": {\n\t\t"type": "command",\n\t\t"command": "~/.claude/line.sh"\n\t}\n}\n',
  ],
  [
    'Claude: hooks of others for the same events',
    hooks,
    '{\n  "hooks": {\n    "Stop": [\n      { "matcher": "", "hooks": [{ "type": "command", "command": "say done" }] }\n    ],\n    "PostToolUse": [\n      { "matcher": "Edit|Write", "hooks": [{ "type": "command", "command": "prettier --write" }] }\n    ]\n  }\n}\n',
  ],
  [
    'Claude: hooks of others on one line',
    hooks,
    '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"date"}]}]},"theme":"dark"}',
  ],
  ['Claude: an empty list of hooks', hooks, '{\n  "hooks": {\n    "Stop": []\n  }\n}\n'],
  ['Claude: line ends of Windows', hooks, '{\r\n  "theme": "light",\r\n  "hooks": {}\r\n}\r\n'],
  ['Gemini: a theme', gemini, '{\n  "theme": "GitHub",\n  "selectedAuthType": "oauth-personal"\n}\n'],
  [
    'Gemini: comments before, beside and behind',
    gemini,
    '// my settings\n{\n  // the look\n  "ui": { "theme": "Dracula" }, // dark\n  /* nothing else */\n}\n// the end\n',
  ],
  [
    'Gemini: other servers, trailing commas',
    gemini,
    '{\n  "mcpServers": {\n    "github": {\n      "httpUrl": "https://api.example.com/mcp",\n      "headers": { "Authorization": "Bearer $TOKEN" },\n    },\n    "files": { "command": "npx", "args": ["-y", "server-filesystem", "/tmp"], "trust": true },\n  },\n  "general": { "vimMode": true },\n}\n',
  ],
  ['Gemini: a mark of the byte order', gemini, '\uFEFF{\n  "tools": { "sandbox": "docker" }\n}\n'],
  [
    'Gemini: nested, with Unicode',
    gemini,
    '{\n  "context": {\n    "fileName": ["AGENTS.md", "GEMINI.md", "说明.md"],\n    "discoveryMaxDirs": 200\n  },\n  "privacy": { "usageStatisticsEnabled": false }\n}\n',
  ],
  ['Gemini: empty servers', gemini, '{ "mcpServers": {} }\n'],
  ['opencode: its schema alone', opencode, '{\n  "$schema": "https://opencode.ai/config.json"\n}\n'],
  [
    'opencode: providers and agents, commented out lines',
    opencode,
    '{\n  "$schema": "https://opencode.ai/config.json",\n  "model": "anthropic/claude-sonnet-4-5",\n  // "small_model": "anthropic/claude-haiku-4-5",\n  "provider": {\n    "local": {\n      "npm": "@ai-sdk/openai-compatible",\n      "options": { "baseURL": "http://127.0.0.1:1234/v1" },\n      "models": { "qwen": {} }\n    }\n  },\n  "agent": {\n    "review": { "mode": "subagent", "tools": { "write": false } }\n  }\n}\n',
  ],
  [
    'opencode: remote and local servers',
    opencode,
    '{\n  "mcp": {\n    "jira": { "type": "remote", "url": "https://jira.example.com/mcp", "enabled": false },\n    // for the browser\n    "playwright": { "type": "local", "command": ["npx", "@playwright/mcp"] }\n  },\n  "permission": { "bash": "ask" }\n}\n',
  ],
  [
    'opencode: all in one line',
    opencode,
    '{"theme":"opencode","autoupdate":false,"mcp":{"a":{"type":"local","command":["b"]}}}',
  ],
  [
    'opencode: many empty lines',
    opencode,
    '\n\n{\n\n  "share": "disabled",\n\n\n  "keybinds": {\n    "leader": "ctrl+x"\n  }\n\n}\n\n',
  ],
  ['opencode: an odd indent', opencode, '{\n   "instructions": [\n      "CONTRIBUTING.md"\n   ]\n}\n'],
];

const withoutCommas = (text: string): string => text.replaceAll(',', '');

/** Those with an empty place for ours, which goes with it once the file was changed by others. */
const EMPTY = new Set([
  'Claude: an empty object',
  'Claude: an empty file',
  'Claude: an empty list of hooks',
  'Claude: line ends of Windows',
  'Gemini: empty servers',
]);
function withoutEmpty(text: string): unknown {
  const {
    hooks: _hooks,
    mcpServers: _servers,
    ...rest
  } = readJsonText(text, 'f').get([]) as Record<string, unknown>;
  return rest;
}

function openFile(text: string | undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-init-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'data'), { mode: 0o700 });
  const path = join(folder, 'settings.json');
  if (text !== undefined) writeFileSync(path, text);
  return { folder, path, open: () => openConfigFile(path, join(folder, 'data')) };
}

test.each(FILES)('%s: ours goes in, twice, and out again, to the byte', async (_name, change, text) => {
  const { folder, path, open } = openFile(text);
  expect(await changeConfig(open(), change.add)).toBe(true);
  const changed = readFileSync(path, 'utf8');
  expect(change.isThere(readJsonText(changed, path))).toBe(true);
  expect(readFileSync(open().backup, 'utf8')).toBe(text);
  // Again, as after an update of ours that writes another entry.
  await changeConfig(open(), (json) => change.add(change.remove(json)));
  expect(readFileSync(open().backup, 'utf8')).toBe(text);
  expect(undoConfig(open(), change.remove)).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe(text);
  expect(readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()).toEqual([
    'data',
    'settings.json',
  ]);
});

test.each(FILES)(
  '%s: what the person has changed since stays, ours goes, and no line of theirs is laid out anew',
  async (name, change, text) => {
    const { folder, path, open } = openFile(text);
    await changeConfig(open(), change.add);
    const changed = readFileSync(path, 'utf8');
    // Every line of theirs stands there still, where it is not the one that takes ours in; a comma may have come.
    const isTaken = EMPTY.has(name) || !text.trim().includes('\n');
    for (const line of isTaken ? [] : text.split('\n'))
      expect(withoutCommas(changed)).toContain(withoutCommas(line));
    const later = (json: string): string => json.replace(/\{/, '{ /* later */ "added": [1, 2],');
    writeFileSync(path, later(changed));
    expect(undoConfig(open(), change.remove)).toBe(true);
    const after = readFileSync(path, 'utf8');
    if (EMPTY.has(name)) expect(readJsonText(after, path).get([])).toEqual(withoutEmpty(later(text || '{}')));
    else expect(after).toBe(later(text));
    expect(readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()).toEqual([
      'data',
      'settings.json',
    ]);
  },
);

test('a file that was not there is gone again, also when it was changed since; a link stays a link', async () => {
  const fresh = openFile(undefined);
  await changeConfig(fresh.open(), hooks.add);
  expect(undoConfig(fresh.open(), hooks.remove)).toBe(true);
  expect(existsSync(fresh.path)).toBe(false);
  await changeConfig(fresh.open(), gemini.add);
  writeFileSync(fresh.path, `${readFileSync(fresh.path, 'utf8')}\n\n`);
  expect(undoConfig(fresh.open(), gemini.remove)).toBe(true);
  expect(existsSync(fresh.path)).toBe(false);
  expect(undoConfig(fresh.open(), gemini.remove)).toBe(false);

  const { folder, path, open } = openFile(undefined);
  const kept = join(folder, 'kept-elsewhere.json');
  writeFileSync(kept, '{ "mine": 1 }');
  symlinkSync(kept, path);
  await changeConfig(open(), opencode.add);
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect(readFileSync(kept, 'utf8')).toContain('parley');
  undoConfig(open(), opencode.remove);
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect(readFileSync(kept, 'utf8')).toBe('{ "mine": 1 }');
});

test('a change by somebody between two of ours is not taken back by the first copy', async () => {
  const { path, open } = openFile('{ "mine": 1 }');
  await changeConfig(open(), gemini.add);
  writeFileSync(path, readFileSync(path, 'utf8').replace('"mine": 1', '"mine": 2'));
  await changeConfig(open(), (json) => gemini.add(gemini.remove(json)));
  undoConfig(open(), gemini.remove);
  expect(readJsonText(readFileSync(path, 'utf8'), path).get([])).toEqual({ mine: 2 });
});

test('what is no JSON is left as it is, and the line is told', async () => {
  const { path, open } = openFile('{\n  "a": 1,\n  b\n}');
  await expect(changeConfig(open(), gemini.add)).rejects.toThrow(/in line 3/);
  expect(readFileSync(path, 'utf8')).toBe('{\n  "a": 1,\n  b\n}');
  for (const text of ['[]', '"x"', 'null']) expect(() => readJsonText(text, 'f')).toThrow('not an object');
});
