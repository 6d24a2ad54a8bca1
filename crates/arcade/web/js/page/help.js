// The keys and gestures of a game: shown the first time, and then on demand.

import { element, listenToKeys } from '../lib/dom.js';
import { recall, remember } from '../lib/settings.js';

/** @typedef {import('../games/types.js').Help} Help */

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
  // Where it covers the game, it is gone with the first move.
  const moved = (/** @type {Event} */ { target }) => {
    if (getComputedStyle(panel).position === 'fixed' && target instanceof Node && !panel.contains(target) && !button.contains(target)) show(false);
  };
  document.addEventListener('pointerdown', moved);
  const stopKeys = listenToKeys((event) => {
    if (event.key !== '?') return false;
    show(panel.hidden);
    return true;
  });
  show(first && recall(seen) === null);
  const stop = () => {
    stopKeys();
    document.removeEventListener('pointerdown', moved);
  };
  return { panel, button, stop };
}
