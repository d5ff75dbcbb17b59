/** Typed access to what `install.mjs` found; a test never looks for a program by itself. */
import { readFileSync } from 'node:fs';

/** The programs and files that tests may ask for. */
export type ToolName =
  | 'codex'
  | 'codex-0153'
  | 'claude'
  | 'codex-acp'
  | 'opencode'
  | 'conformance'
  | 'node22'
  | 'postgres'
  | 'qdrant'
  | 'gte-small'
  | 'lighthouse'
  | 'redocly'
  | 'spectral'
  | 'asyncapi'
  | 'openapi-typescript'
  | 'openapi-fetch'
  | 'hey-api'
  | 'zod'
  | 'quicktype'
  | 'python'
  | 'strace'
  | 'certutil'
  | 'faketime'
  | 'libfaketime'
  | 'vim'
  | 'less'
  | 'htop'
  | 'nano'
  | 'tmux'
  | 'zsh'
  | 'fish'
  | 'fuse-python'
  | 'prometheus'
  | 'promtool'
  | 'nats-server'
  | 'xvfb'
  | 'webkitgtk'
  | 'wpewebkit'
  | 'chromium'
  | 'chromium-headless';

/** Why a tool is not on this machine. */
export interface Missing {
  missing: string;
}

const reportUrl = new URL('../../.cache/tools.json', import.meta.url);

/** The path of a tool, or the reason why there is none. */
export function tool(name: ToolName): string | Missing {
  const found = readReport()[name];
  if (found?.path !== undefined) return found.path;
  return { missing: found?.missing ?? 'run: node tests/tools/install.mjs' };
}

/** The path of a tool; throws the reason where there is none. */
export function requireTool(name: ToolName): string {
  const found = tool(name);
  if (typeof found === 'string') return found;
  throw new Error(`${name} is missing: ${found.missing}`);
}

function readReport(): Partial<Record<ToolName, { path?: string; missing?: string }>> {
  try {
    return JSON.parse(readFileSync(reportUrl, 'utf8')).tools;
  } catch {
    return {};
  }
}
