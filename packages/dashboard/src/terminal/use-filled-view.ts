import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** Keeps an element that fills the window above the keyboard of a touch screen, which covers a part of the page. */
export function useFilledView(box: RefObject<HTMLElement | null>, isWide: boolean): void {
  useEffect(() => {
    const view = visualViewport;
    const element = box.current;
    if (!isWide || view === null || element === null) return undefined;
    const fit = (): void => {
      element.style.height = `${view.height}px`;
      element.style.top = `${view.offsetTop}px`;
    };
    fit();
    view.addEventListener('resize', fit);
    view.addEventListener('scroll', fit);
    return () => {
      view.removeEventListener('resize', fit);
      view.removeEventListener('scroll', fit);
      element.style.height = element.style.top = '';
    };
  }, [isWide]);
}
