import { allow } from '../../allow.ts';
import { HttpRefusal } from '../../exchange.ts';
import type { Face } from '../../server.ts';
import type { WebFile } from '../../web-files.ts';
import { sendFile } from '../../send-file.ts';
import { serveSession, type SessionOptions } from './session.ts';

export interface DashboardOptions extends SessionOptions {
  files: ReadonlyMap<string, WebFile>;
}

/** The pages of the app; all of them are the one shell, which shows the page that its address names. */
const PAGES =
  /^\/(?:|now|threads|t\/[^/]+(?:\/\d+)?|agents(?:\/[^/]+)?|asks\/[^/]+|know(?:\/[^/]+(?:\/(?:edit|history))?)?|timeline|usage|search|log|system)$/;

/** The web app for people: its files, its pages and the sign-in of devices. */
export function createDashboardFace(options: DashboardOptions): Face {
  const { files } = options;
  return {
    claims: (path) => path === '/session' || files.has(path) || PAGES.test(path),
    async handle(exchange) {
      const { request, path } = exchange;
      if (path === '/session') return serveSession(exchange, options);
      allow(request.method, ['GET', 'HEAD']);
      const file = files.get(PAGES.test(path) ? '/index.html' : path);
      if (file === undefined)
        throw new HttpRefusal(404, 'NOT_FOUND', 'the dashboard is not built here; run: npm run build');
      sendFile(exchange, file);
    },
  };
}
