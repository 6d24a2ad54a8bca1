// The letter or number of the seat in the player's colour, as on the board.

import { element } from './dom.js';
import { shortSeat } from './person.js';

/**
 * @param {string} seat
 * @param {string | null} colour
 * @param {boolean} [own] Whether it is the player of this page.
 */
export function avatar(seat, colour, own = false) {
  const made = element('span', { class: own ? 'mark me' : 'mark' }, shortSeat(seat));
  if (colour) made.style.setProperty('--mark', colour);
  return made;
}
