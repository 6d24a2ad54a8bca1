// The hub's estimate of the wait for a match, passed from the lobby to the page of the room.

import { tabStorage } from '../lib/settings.js';

/** @param {{ id: string, wait?: number | null }} room */
export const storeExpectedWait = ({ id, wait }) => tabStorage.remember(`wait ${id}`, wait === undefined ? null : String(wait));

/**
 * The expected wait in seconds: null if the hub does not know it, undefined if there is none.
 * @param {string} id Of the room.
 */
export function takeExpectedWait(id) {
  const stored = tabStorage.recall(`wait ${id}`);
  tabStorage.remember(`wait ${id}`, null);
  return stored === null ? undefined : stored === 'null' ? null : Number(stored);
}
