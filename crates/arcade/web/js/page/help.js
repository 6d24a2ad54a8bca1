// The keys and gestures of a game: shown the first time, and then on demand.

import { recall, remember } from '../settings.js';
import { element, listenToKeys } from './dom.js';

/** @typedef {[string, string][]} Help Keys or gestures, and what they do. */

/**
 * A panel with the keys and gestures, the button that shows it, and an end to listening for the key `?`.
 * @param {string} game
 * @param {Help} help
 * @param {boolean} first Whether it is shown unless it was shown before.
 */
export function helpPanel(game, help, first) {
  const seen = `help ${game}`;
  const list = element('dl', {});
  for (const [keys, meaning] of help) {
    const term = element('dt', {});
    for (const key of keys.split(' ')) term.append(/^[a-z]+$/.test(key) && key.length > 1 ? element('span', {}, key) : element('kbd', {}, key), ' ');
    list.append(element('div', { class: term.querySelector('kbd') ? 'keys' : '' }, term, element('dd', {}, meaning)));
  }
  const button = element('button', { type: 'button', 'aria-expanded': 'false', 'aria-label': 'Keys and touch' }, '?');
  const panel = element(
    'section',
    { class: 'help', 'aria-label': 'Keys and touch' },
    list,
    element('button', { type: 'button', click: () => show(false) }, 'Got it'),
  );
  const show = (/** @type {boolean} */ on) => {
    panel.hidden = !on;
    button.setAttribute('aria-expanded', String(on));
    if (!on) remember(seen, 'seen');
  };
  button.addEventListener('click', () => show(panel.hidden));
  const stop = listenToKeys((event) => {
    if (event.key !== '?') return false;
    show(panel.hidden);
    return true;
  });
  show(first && recall(seen) === null);
  return { panel, button, stop };
}
