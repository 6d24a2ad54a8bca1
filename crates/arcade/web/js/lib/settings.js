// What the browser keeps: the name, the key that proves it, and a few choices. Nothing else, and no cookie.

/** @type {Map<string, string>} What is remembered where a browser keeps nothing, until the page is left. */
const fallback = new Map();

/**
 * @param {string} key
 * @returns {string | null}
 */
export function recall(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return fallback.get(key) ?? null;
  }
}

/**
 * @param {string} key
 * @param {string | null} value Null forgets it.
 */
export function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    if (value === null) fallback.delete(key);
    else fallback.set(key, value);
  }
}

/** Whether motion is to be left out. */
export const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
