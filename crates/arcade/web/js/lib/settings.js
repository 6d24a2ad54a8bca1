// What the browser stores: the name, its key and some settings; and seats until the tab is closed. There are no
// cookies.

/**
 * Without storage, values last until the page is left.
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
     * @param {string | null} value Null removes the entry.
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

/** Storage until the tab is closed. */
export const visit = kept(() => sessionStorage);

/**
 * Proves to the hub that the player is in a room, or owns it.
 * @param {string} id Of the room.
 */
export function word(id) {
  const [owner, seat] = [visit.recall(`owner ${id}`), visit.recall(`seat ${id} play`)];
  return { ...(owner !== null && { owner }), ...(seat !== null && { seat }) };
}

/** Whether stored values survive a reload. */
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

/** The user prefers reduced motion. */
export const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
