import type { View } from './view.ts';

/** A script that follows a link within the app, as a tap on it would. */
const follow = (path: string): string => `(() => {
  const link = document.createElement('a');
  link.href = ${JSON.stringify(path)};
  document.body.append(link);
  link.click();
  link.remove();
})()`;

/** Leaves what is shown for a page that shows nothing; answers false where the app is not there to do so. */
const leave = (origin: string): string => `(() => {
  if (location.origin !== '${origin}' || document.querySelector('.line-sign') === null) return false;
  for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close();
  ${follow('/nowhere')};
  return true;
})()`;

/** Goes to a page by a link within the app; what is not of the app is loaded, and so is the app where it is not there yet. */
export async function visit(page: View, address: string): Promise<void> {
  const { origin, pathname, search } = new URL(address);
  if (pathname.startsWith('/docs') || (await page.evaluate(leave(origin))) !== true) {
    await page.goto(address);
    return;
  }
  await page.getByText('There is no such page.').waitFor();
  await page.locator('dialog').first().waitFor({ state: 'detached' });
  await page.evaluate(follow(pathname + search));
}
