import { element } from './dom.js';
import { shownName } from './names.js';
import { say } from './text.js';

/**
 * Does not change the direction of the text around it.
 * @param {string} name
 */
export const named = (name) => element('bdi', {}, shownName(name));

/**
 * @param {{ name: string, proven?: boolean, bot?: boolean }} player
 * @param {{ link?: boolean }} [options] `link` makes it lead to the player's page.
 */
export function person({ name, proven, bot }, { link = false } = {}) {
  const shown = link
    ? element('a', { href: `/players/${encodeURIComponent(name)}${kind({ proven, bot })}` }, named(name))
    : named(name);
  const made = element('span', { class: 'person' }, shown);
  if (bot) made.append(' ', element('span', { class: 'tag' }, say('person.bot')));
  else if (proven === false) {
    made.append(' ', element('span', { class: 'tag', title: say('person.unproven.why') }, say('person.unproven')));
  }
  return made;
}

/**
 * Distinguishes players of the same name in addresses.
 * @param {{ proven?: boolean | undefined, bot?: boolean | undefined }} player
 */
const kind = ({ proven, bot }) => (bot ? '?kind=bot' : proven === undefined ? '' : proven ? '?kind=proven' : '?kind=unproven');

/**
 * The hub names seats at tables `table 1, seat 2`.
 * @param {string} seat
 */
export const shortSeat = (seat) => /(\w+)$/.exec(seat)?.[1] ?? seat;
