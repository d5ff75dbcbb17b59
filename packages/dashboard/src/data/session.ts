import { ApiError, send } from './api.ts';
import { me, type Me, signInAt } from './state.ts';

/** Finds out whether this device is signed in; a hub that does not answer changes nothing. */
export async function whoAmI(): Promise<void> {
  try {
    // The hub answers so of a device that is signed in.
    const found = (await send('/session', { method: 'GET' })) as Me;
    signInAt.value = found.sign_in_at;
    me.value = found;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'UNAUTHORIZED') {
      // The hub tells so where people sign in, if they do.
      signInAt.value = error.details['sign_in_at'] as string | undefined;
      me.value = null;
    } else if (me.value === undefined) setTimeout(() => void whoAmI(), 2_000);
  }
}

/** Signs this device in with a code, or with the key of a link. */
export async function signIn(word: string): Promise<void> {
  // As above.
  me.value = (await send('/session', {
    method: 'POST',
    body: JSON.stringify({ word, name: deviceName() }),
  })) as Me;
}

/** The way to the issuer and back to this very page. */
export function issuerWay(): string {
  const asked = new URLSearchParams({ to: location.pathname, name: deviceName() });
  return `/session/start?${asked.toString()}`;
}

/** Signs this device out for good; the hub tells the browser to forget all it has kept. */
export async function signOut(): Promise<void> {
  await send('/session', { method: 'DELETE' });
  localStorage.clear();
  // What this page holds of the hub goes with it.
  location.replace('/');
}

/** The key in a sign-in link, or in what stands behind `#` in one. */
export function linkKey(text: string): string | undefined {
  return /#k=([\w-]+)$/.exec(text.trim())?.[1];
}

/** The key of a sign-in link, taken out of the address so that it stays nowhere. */
export function takeLinkKey(): string | undefined {
  const key = linkKey(location.hash);
  if (key !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return key;
}

/** Why a sign-in at the issuer came to nothing, in one word, taken out of the address. */
export function takeFault(): string | undefined {
  const why = /^#why=([a-z]+)$/.exec(location.hash)?.[1];
  if (why !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return why;
}

const SYSTEMS: [RegExp, string][] = [
  [/iPad/, 'iPad'],
  [/iPhone/, 'iPhone'],
  [/Android/, 'Android'],
  [/Mac OS X/, navigator.maxTouchPoints > 1 ? 'iPad' : 'Mac'],
  [/Windows/, 'Windows'],
  [/CrOS/, 'Chromebook'],
  [/Linux/, 'Linux'],
];
const BROWSERS: [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];

/** What to call this device until somebody gives it a better name. */
function deviceName(): string {
  const { userAgent } = navigator;
  const find = (list: [RegExp, string][]): string | undefined =>
    list.find(([sign]) => sign.test(userAgent))?.[1];
  return [find(SYSTEMS), find(BROWSERS)].filter((part) => part !== undefined).join(' · ') || 'Browser';
}
