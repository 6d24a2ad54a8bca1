// An address that leads nowhere.

import { element, title } from '../lib/dom.js';

/**
 * @param {HTMLElement} main
 * @returns {() => void}
 */
export function showMissing(main) {
  title('Not found');
  main.dataset.page = 'missing';
  main.replaceChildren(
    element('h1', {}, 'There is no such page'),
    element('p', {}, 'The address may be mistyped, or what was there is gone.'),
    element('p', {}, element('a', { class: 'button primary', href: '/' }, 'To the lobby')),
  );
  return () => {};
}
