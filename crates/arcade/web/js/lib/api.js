// Requests to the hub. What goes wrong is an error with words for a person.

/**
 * @param {string} path
 * @param {unknown} [body] With it the request is a POST.
 * @returns {Promise<any>} The answer, which is trusted to be what the hub documents; null if it is empty.
 */
export async function ask(path, body) {
  /** @type {Response} */
  let answer;
  try {
    answer = await fetch(
      path,
      body === undefined
        ? {}
        : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    );
  } catch {
    throw new Error('The arcade cannot be reached. Check your connection and try again.');
  }
  const text = await answer.text();
  /** @type {any} */
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    // An answer in plain words, such as that of a proxy.
  }
  if (!answer.ok) throw Object.assign(new Error(words(answer.status, value)), { status: answer.status });
  return value;
}

/**
 * @param {number} status
 * @param {any} value
 */
function words(status, value) {
  if (typeof value?.error === 'string' && value.error) {
    const error = value.error;
    return `${error[0].toUpperCase()}${error.slice(1)}${/[.!?]$/.test(error) ? '' : '.'}`;
  }
  if (status === 404) return 'There is no such thing here.';
  if (status === 429) return 'That was too often. Wait a moment and try again.';
  return `The arcade answered with error ${status}. Try again.`;
}

/**
 * The text of an error, for a person.
 * @param {unknown} error
 */
export const errorText = (error) => (error instanceof Error ? error.message : String(error));

/**
 * Loads a part of the page that was not needed until now.
 * @template T
 * @param {() => Promise<T>} module
 * @returns {Promise<T>}
 */
export const load = (module) =>
  module().catch(() => {
    throw new Error('A part of the page could not be loaded. Check your connection and load the page again.');
  });
