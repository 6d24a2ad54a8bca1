// The letter or number of the seat in the player's shape and colour, as on the board.

import { element } from './dom.js';
import { outline } from './face.js';
import { shortSeat } from './person.js';

/**
 * @param {string} seat
 * @param {import('./face.js').Face} face
 * @param {boolean} [own] Whether it is the player of this page.
 */
export function avatar(seat, face, own = false) {
  const made = element('span', { class: own ? 'mark me' : 'mark' }, shortSeat(seat));
  made.style.setProperty('--mark', face.colour);
  made.style.setProperty('--outline', outline(face));
  return made;
}
