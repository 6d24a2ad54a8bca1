// The figures on a board: of the player on the left, of the match on the right, and the status line between them.

import { element } from './dom.js';

/** Numbers with their labels; null hides the figure. @typedef {[value: string | number, label: string][] | null} Figure */

/** The status line has the same content for screen readers. */
const figure = () => element('div', { class: 'figure', 'aria-hidden': 'true' }, element('div', { class: 'numbers' }));

/**
 * @param {HTMLElement} place
 * @param {Figure} content
 */
function fill(place, content) {
  place.hidden = content === null;
  const numbers = place.children[0];
  const parts = (content ?? []).flat();
  if (numbers.children.length !== parts.length) numbers.replaceChildren(...parts.map((_, index) => element('span', index % 2 === 0 ? { class: 'number' } : {})));
  for (const [index, part] of parts.entries()) numbers.children[index].textContent = String(part);
}

/** @param {HTMLElement} board */
export function hud(board) {
  const [left, right] = [figure(), figure()];
  const status = element('p', { class: 'status', role: 'status' });
  const panel = element('div', { class: 'hud' }, left, status, right);
  board.append(panel);
  return {
    panel,
    left,
    status,
    /**
     * @param {string} text The status line.
     * @param {Figure} own
     * @param {Figure} rest
     * @param {boolean} [spoken] Whether the figures show the same, so that the status line is for screen readers only.
     */
    show: (text, own, rest, spoken = false) => {
      fill(left, own);
      fill(right, rest);
      if (status.textContent !== text) status.textContent = text;
      status.classList.toggle('hidden', spoken);
    },
  };
}

/**
 * The middle of the upper edge of an element on the board; null if it is not in sight.
 * @param {HTMLElement} board
 * @param {Element} part
 */
export function upperEdge(board, part) {
  const [outer, inner] = [board.getBoundingClientRect(), part.getBoundingClientRect()];
  const y = inner.top - outer.top;
  return inner.width > 0 && y >= 0 && inner.bottom <= outer.bottom ? { x: inner.left + inner.width / 2 - outer.left, y } : null;
}
