import { call, newKey } from './data/api.ts';

/** Why this browser cannot be pushed to; undefined when it can. */
export function pushFault(): string | undefined {
  if (!isSecureContext)
    return 'Push needs HTTPS. Reach the hub by a tunnel or over TLS, or use ntfy, which works without.';
  if (!('serviceWorker' in navigator) || !('PushManager' in globalThis))
    return isApple()
      ? 'On an iPad or iPhone add Parley to the Home Screen first, open it there, and come back to this page.'
      : 'This browser knows no push. ntfy works without.';
  if (Notification.permission === 'denied')
    return 'This browser was told to show no notifications of Parley. Allow them in its settings.';
  return undefined;
}

function isApple(): boolean {
  return /iPad|iPhone/.test(navigator.userAgent) || navigator.maxTouchPoints > 1;
}

/** Subscribes this browser and makes it a channel; asks the person, so it must follow a tap. */
export async function subscribe(pushKey: string, name: string): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Error('This browser shows no notifications of Parley: you have not allowed them.');
  const registration = await navigator.serviceWorker.ready;
  const subscription = await registration.pushManager
    .subscribe({ userVisibleOnly: true, applicationServerKey: pushKey })
    .catch((error: unknown) => {
      throw new Error(
        `The push service of this browser does not answer${error instanceof Error ? ` (${error.message})` : ''}.`,
      );
    });
  const { endpoint, keys } = subscription.toJSON();
  await call('add_channel', {
    kind: 'push',
    name,
    target: { url: endpoint ?? '', p256dh: keys?.['p256dh'] ?? '', auth: keys?.['auth'] ?? '' },
    idempotency_key: newKey(),
  });
}

/** Takes the subscription of this browser back. */
export async function unsubscribe(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}
