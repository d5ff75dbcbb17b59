/** The search on the pages of the documentation: it loads the words of all pages when it is first used. */
import { find, type Passage } from './find.ts';

const field = document.querySelector<HTMLInputElement>('#search');
const list = document.querySelector<HTMLOListElement>('#found');

// The device's choice in the dashboard holds here too.
const chosen = localStorage.getItem('theme');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;

let passages: Promise<readonly Passage[]> | undefined;
function load(): Promise<readonly Passage[]> {
  passages ??= fetch('/docs/search.json').then(
    // Made by the build, in this form.
    (answer) => answer.json() as Promise<readonly Passage[]>,
  );
  return passages;
}

async function show(): Promise<void> {
  if (field === null || list === null) return;
  const words = field.value;
  const found = find(await load(), words);
  if (field.value !== words) return;
  list.replaceChildren(...found.map(toItem));
  if (words.trim() !== '' && found.length === 0) list.append(nothing(words));
  list.hidden = words.trim() === '';
}

function toItem({ address, title, heading, text }: ReturnType<typeof find>[number]): HTMLLIElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = address;
  const name = document.createElement('strong');
  name.textContent = heading === '' ? title : `${title} › ${heading}`;
  const words = document.createElement('span');
  words.textContent = text;
  link.append(name, words);
  item.append(link);
  return item;
}

function nothing(words: string): HTMLLIElement {
  const item = document.createElement('li');
  item.className = 'nothing';
  item.textContent = `Nothing is found for “${words.trim()}”.`;
  return item;
}

field?.addEventListener('focus', () => void load());
field?.addEventListener('input', () => void show());
field?.addEventListener('keydown', (event) => {
  const first = list?.querySelector('a');
  if (event.key === 'Enter' && first) location.assign(first.href);
  if (event.key === 'ArrowDown' && first) first.focus();
  if (event.key === 'Escape' && list) list.hidden = true;
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  field?.focus();
});
// On a wide screen the menu stands beside the text.
const pages = document.querySelector('nav details');
if (pages instanceof HTMLDetailsElement && matchMedia('(min-width: 900px)').matches) pages.open = true;
