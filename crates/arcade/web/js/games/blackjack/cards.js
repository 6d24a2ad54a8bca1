import { element } from '../../lib/dom.js';
import { number, say } from '../../lib/text.js';
import { SIGNS, isRed, shortRank } from './board.js';
import { value } from './fold.js';
import { RANKS } from './protocol.js';

/** @typedef {import('./protocol.js').Card} Card */

/** @param {Card | null} card Null for a face-down card. */
export function cardElement(card) {
  if (!card) return element('span', { class: 'card back', role: 'img', 'aria-label': say('blackjack.card.back') });
  const sign = SIGNS[card.suit];
  return element(
    'span',
    { class: isRed(card) ? 'card red' : 'card', role: 'img', 'aria-label': say('blackjack.card', { rank: say(`blackjack.rank.${RANKS[card.rank - 1]}`), suit: say(`blackjack.suit.${card.suit}`) }) },
    element('span', { class: 'corner' }, shortRank(card)),
    element('span', { class: 'pip' }, sign),
  );
}

/**
 * Cards from index `known` on are new.
 * @param {(Card | null)[]} hand
 * @param {number} [known]
 */
export function handElement(hand, known = hand.length) {
  const cards = hand.map(cardElement);
  cards.slice(known).forEach((card) => card.classList.add('dealt'));
  return element('div', { class: 'cards' }, ...cards);
}

/** @param {Card[]} hand */
export function total(hand) {
  if (hand.length === 0) return '';
  const { total: points, soft } = value(hand);
  return soft ? say('blackjack.soft', { points }) : number(points);
}
