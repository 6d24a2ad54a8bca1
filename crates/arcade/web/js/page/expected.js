// The hub's estimate of the wait for a match, passed from the lobby to the page of the room.

import { visit } from '../lib/settings.js';

/** @param {{ id: string, wait?: number | null }} room */
export const expect = ({ id, wait }) => visit.remember(`wait ${id}`, wait === undefined ? null : String(wait));

/**
 * The expected wait in seconds: null if the hub does not know it, undefined if there is none.
 * @param {string} id Of the room.
 */
export function takeExpected(id) {
  const kept = visit.recall(`wait ${id}`);
  visit.remember(`wait ${id}`, null);
  return kept === null ? undefined : kept === 'null' ? null : Number(kept);
}
