/** Runs in a page of WebKit, also of an old one: what the steps of a look-up lead to, and what is to be known of it. */
export function look(steps) {
  const plain = (text) => (text ?? '').replace(/\s+/g, ' ').trim();
  const matches = (text, words) =>
    words.source === undefined
      ? plain(text).toLowerCase().includes(plain(words.text).toLowerCase())
      : new RegExp(words.source, words.flags).test(plain(text));

  const ROLES = {
    button: 'button, summary, input[type=submit], input[type=button], [role=button]',
    dialog: 'dialog, [role=dialog]',
    heading: 'h1, h2, h3, h4, h5, h6, [role=heading]',
    link: 'a[href], [role=link]',
    option: 'option, [role=option]',
    textbox: 'textarea, input:not([type]), input[type=text], [role=textbox]',
  };

  const isShown = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && getComputedStyle(element).visibility === 'visible';
  };

  const isHeard = (element) => isShown(element) && element.closest('[aria-hidden="true"]') === null;

  function contentOf(node) {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE || node.getAttribute('aria-hidden') === 'true') return '';
    const { display, visibility } = getComputedStyle(node);
    if (display === 'none' || visibility !== 'visible') return '';
    const said = node.getAttribute('aria-label') ?? node.getAttribute('alt');
    const text = said ?? [...node.childNodes].map(contentOf).join('');
    return display === 'inline' ? text : ` ${text} `;
  }

  function labelsOf(element) {
    const ids = plain(element.getAttribute('aria-labelledby')).split(' ').filter(Boolean);
    if (ids.length > 0) return [ids.map((id) => document.getElementById(id)?.textContent).join(' ')];
    const labels = [...(element.labels ?? [])].map((label) => label.textContent);
    return [element.getAttribute('aria-label'), ...labels].filter((text) => plain(text) !== '');
  }

  const nameOf = (element) => labelsOf(element)[0] ?? contentOf(element);

  const isCalled = (element, { role, name, level }) =>
    isHeard(element) &&
    (element.getAttribute('role') ?? role) === role &&
    (level === undefined || element.matches(`h${level}, [aria-level="${level}"]`)) &&
    (name === undefined || matches(nameOf(element), name));

  /** The innermost elements that have the text. */
  const holds = (element, words) =>
    !element.matches('script, style') &&
    matches(element.textContent, words) &&
    ![...element.children].some((child) => matches(child.textContent, words));

  const below = (roots, selector) => [
    ...new Set(roots.flatMap((root) => [...root.querySelectorAll(selector)])),
  ];

  const ways = {
    css: (roots, step) => below(roots, step.css),
    role: (roots, step) => below(roots, ROLES[step.role]).filter((element) => isCalled(element, step)),
    label: (roots, step) =>
      below(roots, '*').filter((element) => labelsOf(element).some((text) => matches(text, step.label))),
    text: (roots, step) => below(roots, '*').filter((element) => holds(element, step.text)),
    hasText: (roots, step) => roots.filter((element) => matches(element.textContent, step.hasText)),
    first: (roots) => roots.slice(0, 1),
  };

  let found = [document];
  for (const step of steps) found = ways[step.by](found, step);
  const [element] = found;
  if (found.length === 0) return { count: 0 };
  const { x, y, width, height } = element.getBoundingClientRect();
  return {
    count: found.length,
    element,
    shown: isShown(element),
    enabled: !element.matches(':disabled, [aria-disabled="true"]'),
    text: element.innerText,
    value: element.value ?? '',
    checked: element.checked === true,
    box: [x, y, width, height].join(' '),
  };
}
