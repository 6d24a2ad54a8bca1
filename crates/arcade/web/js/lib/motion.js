// Animations of moments on a board, at most 400 ms long. Those of style sheets end in base.css for users who prefer
// reduced motion.

import { element } from './dom.js';
import { prefersReducedMotion } from './settings.js';

const COINS = 8;
/** How far coins fly, in CSS pixels. */
const REACH = 56;

/**
 * Returns null if the user prefers reduced motion.
 * @param {Element} target
 * @param {Keyframe[]} frames
 * @param {number} duration In milliseconds.
 */
const animate = (target, frames, duration) => (prefersReducedMotion() ? null : target.animate(frames, { duration, easing: 'ease-out' }));

/** @param {Element | null} card */
export const flip = (card) => card && animate(card, [{ transform: 'rotateY(90deg)' }, {}], 250);

/** @param {Element} board */
export const shake = (board) => animate(board, [0, -7, 6, -4, 2, 0].map((x) => ({ transform: `translate(${x}px, ${-x / 2}px)` })), 320);

/**
 * Coins fly off a point of the board.
 * @param {HTMLElement} board
 * @param {{ x: number, y: number }} at In CSS pixels.
 */
export function burst(board, { x, y }) {
  for (let coin = 0; coin < COINS; coin += 1) {
    const made = element('i', { class: 'coin', 'aria-hidden': 'true' });
    made.style.left = `${x}px`;
    made.style.top = `${y}px`;
    const angle = (2 * Math.PI * coin) / COINS;
    const to = `${REACH * Math.cos(angle)}px ${REACH * Math.sin(angle)}px`;
    board.append(made);
    const motion = animate(made, [{}, { translate: to, scale: 0.4, opacity: 0 }], 400);
    if (motion) motion.onfinish = motion.oncancel = () => made.remove();
    else made.remove();
  }
}
