import { send } from './api.ts';

/** Goes on in another workspace of the same person, as a page that knows nothing of this one. */
export async function enterWorkspace(workspace_id: string): Promise<void> {
  await send('/session', { method: 'PUT', body: JSON.stringify({ workspace_id }) });
  location.replace('/');
}
