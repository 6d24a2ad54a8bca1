// What the browser stores: the name, its key and some settings, and for a day the seats and rooms of the user. There are
// no cookies.

/**
 * Without storage, values last until the page is left.
 * @param {() => Storage} storage
 */
function openStorage(storage) {
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

export const { recall, remember } = openStorage(() => localStorage);

/** Storage until the tab is closed. */
export const tabStorage = openStorage(() => sessionStorage);

/** How long the tokens and proofs of rooms are stored, in milliseconds. */
const STORED = 24 * 3600 * 1000;
/** Their keys: the kind and the id of the room, or the code of a class. */
const OF_ROOM = /^(seat|was|own|past|owner|code|word|class|pupil|teacher|challenge) /;

/** @param {string | null} stored The time at which the value expires, a space, and the value. */
function unexpired(stored) {
  const [, until, value] = /^(\d+) (.*)$/s.exec(stored ?? '') ?? [];
  return value !== undefined && Number(until) > Date.now() ? value : null;
}

/** Storage of the tokens and proofs of rooms, which all tabs share. */
export const roomStorage = {
  /** @param {string} key */
  recall: (key) => unexpired(recall(key)),
  /**
   * @param {string} key
   * @param {string | null} value Null removes the entry.
   */
  remember: (key, value) => {
    remember(key, value === null ? null : `${Date.now() + STORED} ${value}`);
    try {
      for (const other of Object.keys(localStorage)) {
        if (OF_ROOM.test(other) && unexpired(localStorage.getItem(other)) === null) localStorage.removeItem(other);
      }
    } catch {
      // Without storage nothing expires.
    }
  },
};

/**
 * Proves to the hub that the player is in a room, or owns it.
 * @param {string} id Of the room.
 */
export function roomProof(id) {
  const [owner, seat] = [roomStorage.recall(`owner ${id}`), roomStorage.recall(`seat ${id}`)];
  return { ...(owner !== null && { owner }), ...(seat !== null && { seat }) };
}

/** Whether stored values survive a reload. */
export function isStoragePersistent() {
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
export const prefersReducedMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Whether no match of this game has been finished in this browser. @param {string} game */
export const isFirst = (game) => recall(`played ${game}`) === null;

/** @param {string} game */
export const notePlayed = (game) => remember(`played ${game}`, 'yes');
