import { allow } from '../../allow.ts';
import { HttpRefusal } from '../../exchange.ts';
import type { Face } from '../../server.ts';
import { listFiles, readWebFile, type WebFile } from '../../web-files.ts';
import { sendFile } from '../../send-file.ts';

/** `/docs`: the documentation as it was built, for everybody who reaches the hub; it holds nothing of anybody. */
export function createDocumentationFace(): Face {
  // Looked for when somebody first asks: most hubs are never asked.
  let paths: ReadonlyMap<string, string> | undefined;
  const read = new Map<string, WebFile>();

  function find(address: string): WebFile | undefined {
    paths ??= listFiles('docs');
    const name = address.slice('/docs'.length).replace(/\/$/, '') || '/index';
    const path = paths.get(name) ?? paths.get(`${name}.html`);
    if (path === undefined) return undefined;
    const file = read.get(path) ?? readWebFile(path);
    read.set(path, file);
    return file;
  }

  return {
    claims: (path) => path === '/docs' || path.startsWith('/docs/'),
    async handle(exchange) {
      allow(exchange.request.method, ['GET', 'HEAD']);
      const file = find(exchange.path);
      if (file === undefined)
        throw new HttpRefusal(404, 'NOT_FOUND', 'there is no such page; /docs lists all of them');
      sendFile(exchange, file);
    },
  };
}
