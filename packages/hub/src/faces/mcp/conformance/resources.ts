import { type ReadResourceResult, ResourceNotFoundError } from '@modelcontextprotocol/server';

import { PNG } from './samples.ts';

/** The fixed resources, the readable one first. */
export const RESOURCES = [
  resource('test://static-text', 'static-text', 'text/plain', 'A fixed text.'),
  resource('test://static-binary', 'static-binary', 'image/png', 'A fixed image.'),
  resource('test://watched-resource', 'watched-resource', 'text/plain', 'A resource to subscribe to.'),
];

export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: 'test://template/{id}/data',
    name: 'template',
    description: 'A resource by its id.',
    mimeType: 'application/json',
  },
];

function resource(uri: string, name: string, mimeType: string, description: string) {
  return { uri, name, mimeType, description };
}

/** The content of a fixture resource. */
export function readResource(uri: string): ReadResourceResult {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined) {
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: 'application/json', text }] };
  }
  if (uri === 'test://static-text') return plain(uri, 'This is the content of the static text resource.');
  if (uri === 'test://watched-resource') return plain(uri, 'This is the content of the watched resource.');
  if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: PNG }] };
  throw new ResourceNotFoundError(uri);
}

function plain(uri: string, text: string): ReadResourceResult {
  return { contents: [{ uri, mimeType: 'text/plain', text }] };
}
