import type { OutputOf } from '@parley/protocol';

import { call, read } from '../data/api.ts';
import { copy } from './code-line.tsx';
import { tokensOf } from './highlight.ts';

type Artifact = OutputOf<'get_artifact'>['artifact'];

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Gives what was written its last touches: colours, copy and wrap for code, pictures and files for artifacts. */
export function enrich(prose: HTMLElement): void {
  for (const pre of prose.querySelectorAll<HTMLPreElement>('pre:not([data-rich])')) enrichCode(pre);
  for (const link of prose.querySelectorAll<HTMLAnchorElement>('a[href^="artifact:"]:not([data-rich])'))
    void showArtifact(link);
}

function enrichCode(pre: HTMLPreElement): void {
  pre.dataset['rich'] = 'yes';
  const code = pre.querySelector('code');
  if (code === null) return;
  const text = code.textContent;
  const language = /language-([\w+#-]+)/.exec(code.className)?.[1]?.toLowerCase() ?? '';
  if (language !== '') {
    code.replaceChildren(
      ...tokensOf(text, language).map((token) => {
        if (token.kind === undefined) return document.createTextNode(token.text);
        const span = document.createElement('span');
        span.className = `code-${token.kind}`;
        span.textContent = token.text;
        return span;
      }),
    );
  }
  const box = document.createElement('div');
  box.className = 'code-box';
  const bar = document.createElement('div');
  bar.className = 'code-bar';
  const name = document.createElement('span');
  name.textContent = language;
  const wrap = button('Wrap', () => {
    const isOn = box.classList.toggle('code-wrapped');
    wrap.setAttribute('aria-pressed', String(isOn));
  });
  wrap.setAttribute('aria-pressed', 'false');
  bar.append(
    name,
    wrap,
    button('Copy', () => void copy(text.replace(/\n$/, ''))),
  );
  pre.replaceWith(box);
  box.append(bar, pre);
}

function button(word: string, run: () => void): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = word;
  made.addEventListener('click', run);
  return made;
}

/** Shows an artifact where it is mentioned: a picture as one, whatever else as a file to be opened. */
async function showArtifact(link: HTMLAnchorElement): Promise<void> {
  link.dataset['rich'] = 'yes';
  const id = (link.getAttribute('href') ?? '').slice('artifact:'.length);
  const label = link.textContent === '' ? 'A file' : link.textContent;
  link.removeAttribute('target');
  link.classList.add('artifact');
  try {
    const { artifact } = await read<{ artifact: Artifact }>(`/v1/artifacts/${encodeURIComponent(id)}`);
    link.title = `${artifact.name}, ${sizeOf(artifact.bytes)}`;
    if (!IMAGES.has(artifact.mime_type)) link.textContent = `${label} · ${sizeOf(artifact.bytes)}`;
    else await showPicture(link, id, label);
    // A signed URL is good for minutes: one is made when it is needed.
    link.addEventListener('click', (event) => {
      event.preventDefault();
      void addressOf(id).then((url) => open(url, '_blank', 'noopener'));
    });
  } catch {
    link.classList.add('artifact-missing');
    link.textContent = `${label} (not to be had)`;
    link.removeAttribute('href');
  }
}

async function showPicture(link: HTMLAnchorElement, id: string, label: string): Promise<void> {
  const picture = document.createElement('img');
  picture.alt = label;
  picture.loading = 'lazy';
  picture.src = await addressOf(id);
  picture.addEventListener('error', () => picture.replaceWith(label), { once: true });
  link.classList.add('artifact-picture');
  link.replaceChildren(picture);
}

/** Where the bytes are: the hub's own way to them is taken from this page's origin, whatever name it goes by. */
async function addressOf(artifactId: string): Promise<string> {
  const { artifact_uri } = await call('sign_artifact_url', { artifact_id: artifactId });
  const { pathname, search } = new URL(artifact_uri, location.href);
  return pathname.startsWith('/artifacts/') ? pathname + search : artifact_uri;
}

/** How much a file holds, as people say it. */
function sizeOf(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
