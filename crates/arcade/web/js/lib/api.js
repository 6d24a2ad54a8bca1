// Requests to the hub. Errors have a message for the user.

import { absolutePath } from './route.js';
import { errorOf, say } from './text.js';

/**
 * @param {string} path
 * @param {unknown} [body] If given, the request is a POST.
 * @param {string | null} [token] Authorizes the request.
 * @param {Record<string, string>} [headers] Further ones.
 * @returns {Promise<any>} The response, unchecked; null if it is empty.
 */
export async function request(path, body, token = null, headers = {}) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(
      absolutePath(path),
      {
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }), ...(token !== null && { authorization: `Bearer ${token}` }) },
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      },
    );
  } catch {
    throw new Error(say('error.unreachable'));
  }
  const text = await response.text();
  /** @type {any} */
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    // A response that is not JSON, such as that of a proxy.
  }
  if (!response.ok) throw Object.assign(new Error(errorMessage(response.status, value)), { status: response.status, code: value?.code, count: value?.count });
  return value;
}

/**
 * @param {number} status
 * @param {any} value
 */
function errorMessage(status, value) {
  if (typeof value?.error === 'string' && value.error) return errorOf(value);
  if (status === 404) return say('error.missing');
  if (status === 429) return say('error.often');
  return say('error.status', { status: String(status) });
}

/** @param {unknown} error */
export const errorText = (error) => (error instanceof Error ? error.message : String(error));

/**
 * Loads a module of the page on demand.
 * @template T
 * @param {() => Promise<T>} module
 * @returns {Promise<T>}
 */
export const load = (module) =>
  module().catch(() => {
    throw new Error(say('error.part'));
  });
