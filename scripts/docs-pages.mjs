/** What the pages of the documentation are made of: where each stands, its markup, and what a search finds in it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

import { Marked } from 'marked';

/** The pages outside the folder, and the list of all of them, under names of their own. */
const NAMES = {
  'docs/README.md': '',
  'README.md': 'readme',
  'ARCHITECTURE.md': 'architecture',
  'CONTRIBUTING.md': 'contributing',
  'CHANGELOG.md': 'changes',
};

/**
 * In the order of the menu: the title of a part, and which sources stand in it.
 * @type {[string, (path: string) => boolean][]}
 */
const PARTS = [
  ['Start', (path) => path === 'README.md' || path === 'docs/concepts.md' || path.startsWith('docs/start/')],
  ['How to', (path) => path.startsWith('docs/how-to/')],
  ['Faces', (path) => path.startsWith('docs/faces/')],
  ['Reference', (path) => path.startsWith('docs/reference/') || path === 'docs/configuration.md'],
  ['In depth', (path) => /^docs\/[a-z-]+\.md$/.test(path)],
  ['Why', (path) => !path.startsWith('docs/')],
];

const escape = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** As the links in the sources name them. */
const anchorOf = (title) => title.toLowerCase().replaceAll('`', '').replaceAll(' ', '-');

/** Reads every page of the clone. */
export function readPages() {
  // What stands beside the pictures is about how they came to be, and is read in the clone.
  const inDocs = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.md') && !name.startsWith('pictures'),
  );
  const sources = [...Object.keys(NAMES), ...inDocs.map((name) => `docs/${name}`)];
  const pages = [...new Set(sources)]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((source) => {
      const text = readFileSync(source, 'utf8');
      const name = NAMES[source] ?? source.slice('docs/'.length, -'.md'.length);
      return { source, text, address: name === '' ? '/docs' : `/docs/${name}`, title: titleOf(text) };
    });
  const decisions = pages.filter(({ source }) => source.startsWith('docs/decisions/'));
  const list = decisions.map(
    ({ title, source }) => `- [${title}](${source.slice('docs/decisions/'.length)})`,
  );
  const text = `# Decisions\n\nWhat was settled, and why.\n\n${list.join('\n')}\n`;
  return [...pages, { source: 'docs/decisions/', text, address: '/docs/decisions', title: 'Decisions' }];
}

const titleOf = (text) => (/^# (.+)$/m.exec(text)?.[1] ?? '').replaceAll('`', '');

/** The markup of one page, with its links led to the pages that the hub serves. */
export function renderPage(page, pages) {
  const byPath = new Map(pages.map(({ source, address }) => [source.replace(/\/$/, ''), address]));
  const follow = (href) => addressOf(href, page.source, byPath);
  const marked = new Marked({ gfm: true, async: false });
  marked.use({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${escape(anchorOf(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const address = follow(href);
        return address === undefined ? inner : `<a href="${escape(address)}">${inner}</a>`;
      },
      image: ({ href, text }) => `<img src="${escape(follow(href))}" alt="${escape(text)}" loading="lazy">`,
      // Pictures with a width are the only HTML there is.
      html: ({ text }) =>
        text.startsWith('<img ')
          ? text.replace(/(?<=src=")[^"]+/, (src) => escape(follow(src)))
          : escape(text),
    },
  });
  return marked
    .parse(page.text)
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
}

/** Where a link of a source leads; undefined for a file that is not served. */
function addressOf(href, source, byPath) {
  if (/^(?:https?:|mailto:)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const tail = anchor === undefined ? '' : `#${anchor}`;
  if (path === '') return tail;
  const target = normalize(join(dirname(`${source}x`), path)).replace(/\/$/, '');
  const address = byPath.get(target);
  if (address !== undefined) return address + tail;
  if (target.startsWith('docs/pictures/')) return `/${target}`;
  if (!existsSync(target)) throw new Error(`${source} leads to ${href}, which is not there`);
  return undefined;
}

/** A whole page in the look of the dashboard. */
export function wholePage(page, pages, { style, script }) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(page.title)} · Parley</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script>
</head>
<body>
<a class="skip" href="#text">To the text</a>
<header>
<a class="home" href="/docs">Parley</a>
<search><input type="search" id="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off"><ol id="found" aria-label="Found" hidden></ol></search>
<a href="/">Dashboard</a>
</header>
<div class="desk">
<nav aria-label="Pages"><details><summary>All pages</summary>
${menu(page, pages)}
</details></nav>
<main id="text">
${renderPage(page, pages)}
</main>
</div>
</body>
</html>
`;
}

function menu(current, pages) {
  const left = new Set(pages.filter(({ source }) => !/^docs\/(?:decisions\/.|README)/.test(source)));
  return PARTS.map(([title, isIn]) => {
    const own = [...left].filter(
      ({ source }) => isIn(source) || (title === 'Why' && source === 'docs/decisions/'),
    );
    for (const page of own) left.delete(page);
    const items = own.map(
      (page) =>
        `<li><a href="${page.address}"${page === current ? ' aria-current="page"' : ''}>${escape(page.title)}</a></li>`,
    );
    return `<h2>${title}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
  }).join('\n');
}

/** What the search looks through: each part of a page under a heading, as plain words. */
export function searchIndex(pages) {
  return pages.flatMap(({ address, title, text }) =>
    text.split(/^(?=## )/m).map((part) => {
      const heading = /^## (.+)$/m.exec(part)?.[1] ?? '';
      const words = part
        .replaceAll(/^#+ .*$/gm, '')
        .replaceAll(/\]\([^)]*\)/g, ' ')
        .replaceAll(/^ *```.*$|^[| -]+$/gm, ' ')
        .replaceAll(/[`*|#[\]]+/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim();
      return [
        heading === '' ? address : `${address}#${anchorOf(heading)}`,
        title,
        heading.replaceAll('`', ''),
        words,
      ];
    }),
  );
}
