// The keys and gestures of a game, on demand.

import { element, listenToKeys } from '../lib/dom.js';

/** @typedef {import('../games/types.js').Help} Help */

/**
 * A panel with the keys and gestures, the button that shows it, and an end to listening for the key `?`.
 * @param {Help} help
 */
export function helpPanel(help) {
  const list = element('dl', {});
  for (const [keys, meaning] of help) {
    const term = element('dt', {});
    for (const key of keys.split(' ')) term.append(/^[a-z]+$/.test(key) && key.length > 1 ? element('span', {}, key) : element('kbd', {}, key), ' ');
    list.append(element('div', { class: term.querySelector('kbd') ? 'keys' : '' }, term, element('dd', {}, meaning)));
  }
  const button = element('button', { type: 'button', 'aria-expanded': 'false', 'aria-label': 'Keys and touch' }, '?');
  const panel = element(
    'section',
    { class: 'help', 'aria-label': 'Keys and touch', hidden: true },
    list,
    element('button', { type: 'button', click: () => show(false) }, 'Got it'),
  );
  const show = (/** @type {boolean} */ on) => {
    panel.hidden = !on;
    button.setAttribute('aria-expanded', String(on));
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
  const stop = () => {
    stopKeys();
    document.removeEventListener('pointerdown', moved);
  };
  return { panel, button, stop };
}
