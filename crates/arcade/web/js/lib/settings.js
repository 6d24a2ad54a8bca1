// What the browser keeps: the name, the key that proves it, and a few choices; for the visit also seats. Nothing else, and no cookie.

/**
 * What a storage of the browser keeps. Where it may keep nothing, that lasts until the page is left.
 * @param {() => Storage} storage
 */
function kept(storage) {
  /** @type {Map<string, string>} */
  const fallback = new Map();
  return {
    /**
     * @param {string} key
     * @returns {string | null}
     */
    recall: (key) => {
      try {
        return fallback.get(key) ?? storage().getItem(key);
      } catch {
        return null;
      }
    },
    /**
     * @param {string} key
     * @param {string | null} value Null forgets it.
     */
    remember: (key, value) => {
      fallback.delete(key);
      try {
        if (value === null) storage().removeItem(key);
        else storage().setItem(key, value);
      } catch {
        if (value !== null) fallback.set(key, value);
      }
    },
  };
}

export const { recall, remember } = kept(() => localStorage);

/** What is kept until the tab is closed. */
export const visit = kept(() => sessionStorage);

/**
 * Shows the hub that one is in a room, or owns it, for what only those may want.
 * @param {string} id Of the room.
 */
export function word(id) {
  const [owner, seat] = [visit.recall(`owner ${id}`), visit.recall(`seat ${id} play`)];
  return { ...(owner !== null && { owner }), ...(seat !== null && { seat }) };
}

/** Whether the browser keeps anything beyond a reload. */
export function keeps() {
  try {
    localStorage.setItem('keeps', '');
    localStorage.removeItem('keeps');
    sessionStorage.setItem('keeps', '');
    sessionStorage.removeItem('keeps');
    return true;
  } catch {
    return false;
  }
}

/** Whether motion is to be left out. */
export const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
