import type { Screen } from './desk.ts';

/**
 * A script for the page that answers what sticks out of the screen, and on touch screens what is too small for a
 * finger; links inside a text may be small, and a line's number in a change is hit over its neighbours.
 */
export const misfits = (screen: Screen): string => `(() => {
    const found = [];
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) found.push('the page is ' + scrollWidth + ' wide');
    for (const box of document.querySelectorAll('.page, .thread-main, .know-main, .know-tree, .sheet, .column, .stack'))
      if (box.scrollWidth > box.clientWidth + 1) found.push('wider than its place: ' + box.className);
    if (${screen === 'desktop'}) return found;
    const above = document.querySelector('dialog[open]');
    for (const one of (above ?? document).querySelectorAll('button, a[href], input, textarea, select, summary, [role=option]')) {
      const { width, height } = one.getBoundingClientRect();
      if (width === 0 || one.closest('.change-number, .desk main, p, .quiet, .prose, .ask-who, .message-head, .quoted-line, .evidence, .skip, label')) continue;
      if (Math.round(width) < 44 || Math.round(height) < 44) found.push('small: ' + Math.round(width) + 'x' + Math.round(height) + ' ' + one.outerHTML.slice(0, 120));
    }
    return found;
  })()`;
