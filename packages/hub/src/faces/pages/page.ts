import { hash } from 'node:crypto';

import { escapeHtml } from './markup.ts';

/** The one style of these pages: the hub's own colours, light and dark, on any width, with nothing to load. */
const STYLE = `
:root{color-scheme:light dark;--bg:#f6f6f4;--surface:#fff;--sunken:#f1f0ed;--line:#e5e4e0;--ink:#1b1c1f;--ink-2:#55575d;--accent:#2457c9}
@media (prefers-color-scheme:dark){:root{--bg:#111214;--surface:#191a1d;--sunken:#212327;--line:#2e3035;--ink:#e9eaec;--ink-2:#a8abb2;--accent:#8fb2ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:17px/1.6 -apple-system,BlinkMacSystemFont,Inter,'Segoe UI',Roboto,system-ui,sans-serif;overflow-wrap:break-word}
main{max-width:46rem;margin:0 auto;padding:1.5rem 1.25rem 4rem}
header{border-bottom:1px solid var(--line);margin-bottom:1.5rem;padding-bottom:.75rem}
header h1{font-size:1.75rem;line-height:1.25;margin:.25rem 0 .5rem}
header p,nav,footer{color:var(--ink-2);font-size:.875rem;margin:.25rem 0}
.tag{display:inline-block;background:var(--sunken);border-radius:6px;padding:0 .5rem;margin-right:.25rem}
a{color:var(--accent);text-underline-offset:.15em}
nav a,footer a{display:inline-block;padding:.6rem .75rem .6rem 0}
h1,h2,h3,h4{line-height:1.3;margin:1.6em 0 .5em}
article h1{font-size:1.5rem}article h2{font-size:1.25rem}article h3{font-size:1.1rem}
pre,code{font-family:ui-monospace,'SF Mono',Menlo,'DejaVu Sans Mono',Consolas,monospace;font-size:.875em}
code{background:var(--sunken);border-radius:4px;padding:.1em .3em}
pre{background:var(--sunken);border-radius:10px;padding:.9rem 1rem;overflow-x:auto}
pre code{background:none;padding:0}
pre.plain{background:none;padding:0;white-space:pre-wrap;font-size:.9375em}
blockquote{margin:1em 0;padding-left:1rem;border-left:3px solid var(--line);color:var(--ink-2)}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.9375em}
th,td{border:1px solid var(--line);padding:.35rem .6rem;text-align:left;vertical-align:top}
th{background:var(--sunken)}
hr{border:0;border-top:1px solid var(--line);margin:2em 0}
.dead{color:var(--ink-2);text-decoration:underline dotted}
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // Without allow-scripts; its own origin it keeps, or links between documents would lose the cookie.
  'sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox',
].join('; ');

/** What every page of a document carries: it runs nothing, loads nothing and cannot be framed. */
export const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
} as const;

export const PAGE_TYPE = 'text/html; charset=utf-8';

/** A whole page; `body` is markup already, the title is not. */
export function pageOf(title: string, body: string): string {
  return `<!doctype html>
<html lang="und">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body><main>
${body}
</main></body>
</html>
`;
}
