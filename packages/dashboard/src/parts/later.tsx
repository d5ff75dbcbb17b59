import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';

/** A page, what lies above one, or a part of one, that comes when it is first looked at. */
export function later<P extends object>(
  load: () => Promise<ComponentType<P>>,
  meanwhile: preact.VNode | null = <div class="page" aria-busy="true" />,
): (props: P) => preact.VNode | null {
  const loaded = signal<ComponentType<P> | undefined>(undefined);
  let asked = false;
  return (props) => {
    if (!asked) {
      asked = true;
      Promise.all([load(), laterStyles()]).then(
        ([component]) => (loaded.value = component),
        () => (asked = false),
      );
    }
    const Component = loaded.value;
    return Component === undefined ? meanwhile : <Component {...props} />;
  };
}

let styles: Promise<void> | undefined;

/** The styles of pages that come later; they come with the first of them. */
function laterStyles(): Promise<void> {
  styles ??= new Promise((resolve) => {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = document.querySelector<HTMLMetaElement>('meta[name="later-style"]')?.content ?? '';
    link.onload = link.onerror = () => resolve();
    document.head.append(link);
  });
  return styles;
}
