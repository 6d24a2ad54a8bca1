// The panel with the keys and gestures of a game.

import { element, listenToKeys } from '../lib/dom.js';
import { say, sayOr } from '../lib/text.js';

/** @typedef {import('../games/types.js').Help} Help */

/** The name of a key or a gesture. @param {string} key */
export const keyName = (key) => sayOr(`key.${key}`, key);

/**
 * Makes the panel, the button that shows it, and a function that stops the listeners.
 * @param {Help} help
 */
export function helpPanel(help) {
  const list = element('dl', {});
  for (const [keys, meaning] of help) {
    const term = element('dt', {});
    for (const key of keys.split(' ')) term.append(/^[a-z]+$/.test(key) && key.length > 1 ? element('span', {}, keyName(key)) : element('kbd', {}, keyName(key)), ' ');
    list.append(element('div', { class: term.querySelector('kbd') ? 'keys' : '' }, term, element('dd', {}, meaning)));
  }
  const button = element('button', { type: 'button', 'aria-expanded': 'false', 'aria-label': say('help.title') }, '?');
  const panel = element(
    'section',
    { class: 'help', 'aria-label': say('help.title'), hidden: true },
    list,
    element('button', { type: 'button', click: () => show(false) }, say('help.close')),
  );
  const show = (/** @type {boolean} */ on) => {
    panel.hidden = !on;
    button.setAttribute('aria-expanded', String(on));
  };
  button.addEventListener('click', () => show(panel.hidden));
  // If the panel covers the game, the first move hides it.
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
