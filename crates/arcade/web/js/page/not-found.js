// The pages for unknown addresses and rooms.

import { element, title } from '../lib/dom.js';
import { say } from '../lib/text.js';

/**
 * @param {HTMLElement} main
 * @returns {() => void}
 */
export function showNotFound(main) {
  title(say('page.missing'));
  main.dataset.page = 'missing';
  main.replaceChildren(
    element('h1', {}, say('page.missing.heading')),
    element('p', {}, say('page.missing.text')),
    element('p', {}, element('a', { class: 'button primary', href: '/' }, say('page.to-lobby'))),
  );
  return () => {};
}

/** @param {HTMLElement} main */
export function showRoomNotFound(main) {
  title(say('room.missing'));
  main.dataset.page = 'missing';
  main.replaceChildren(
    element('h1', {}, say('room.missing.heading')),
    element('p', {}, say('room.missing.text')),
    element('p', {}, element('a', { class: 'button primary', href: '/' }, say('room.missing.back'))),
  );
}
