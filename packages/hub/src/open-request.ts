import { type ClientRequest, request as plainRequest, type RequestOptions } from 'node:http';
import { request as tlsRequest } from 'node:https';

/** Opens a request on a connection of its own: one kept alive may be cut under a request, and nobody knows how far it came. */
export function openRequest(url: string, options: RequestOptions): ClientRequest {
  const request = url.startsWith('https:') ? tlsRequest : plainRequest;
  return request(url, { ...options, agent: false });
}
