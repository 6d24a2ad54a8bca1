// Advice from the best table, or from one that was learned on this page.

import { number, say } from '../../lib/text.js';
import { value } from './fold.js';
import { states } from './learner.js';

/** @typedef {import('./protocol.js').Card} Card */
/** @typedef {{ action: 'hit' | 'stand', hit: number | null, stand: number | null }} Advice The value of each action, if known. */
/** Advice for hands. @typedef {(hand: Card[], upcard: Card) => Advice | null} Adviser */
/** @typedef {{ total: number, soft: boolean, upcard: number, hit: number | null, stand: number | null, best: 'hit' | 'stand' }} BestState */

/** @param {number} total @param {boolean} soft @param {number} upcard */
const key = (total, soft, upcard) => `${soft ? 'soft ' : ''}${total}/${upcard}`;

/** @param {Card} upcard */
const upcardValue = ({ rank }) => (rank === 1 ? 11 : Math.min(rank, 10));

/**
 * @param {{ states: BestState[] }} table As the hub sends it.
 * @returns {Adviser}
 */
export function byBest({ states: known }) {
  const all = new Map(known.map((state) => [key(state.total, state.soft, state.upcard), state]));
  return (hand, upcard) => {
    const { total, soft } = value(hand);
    const state = all.get(key(total, soft, upcardValue(upcard)));
    return state ? { action: state.best, hit: state.hit, stand: state.stand } : null;
  };
}

/**
 * @param {string | null} text As the page of the learner stores it.
 * @returns {{ rounds: number, adviser: Adviser } | null} Null if there is none.
 */
export function byLearned(text) {
  /** @type {{ space?: unknown, cells?: unknown, rounds?: unknown } | null} */
  let stored;
  try {
    stored = JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
  const { space, cells, rounds } = stored ?? {};
  if ((space !== 'soft' && space !== 'coarse') || typeof cells !== 'string' || typeof rounds !== 'number') return null;
  const order = states(space);
  if (cells.length !== order.length) return null;
  const all = new Map(order.map((state, at) => [key(state.total, state.soft, state.upcard), cells[at]]));
  /** @type {Adviser} */
  const adviser = (hand, upcard) => {
    const { total, soft } = value(hand);
    const cell = all.get(key(total, space === 'soft' && soft, upcardValue(upcard)));
    if (cell === 'h' || cell === 's') return { action: cell === 'h' ? 'hit' : 'stand', hit: null, stand: null };
    return null;
  };
  return { rounds, adviser };
}

/**
 * The costliest decision as a sentence, or praise if all decisions were the best ones.
 * @param {{ hand: Card[], upcard: Card, action: 'hit' | 'stand' }[]} decisions
 * @param {Adviser} adviser
 */
export function costliest(decisions, adviser) {
  let worst = { cost: 0.005, text: '' };
  for (const { hand, upcard, action } of decisions) {
    const advice = adviser(hand, upcard);
    if (!advice || advice.hit === null || advice.stand === null) continue;
    const cost = action === 'hit' ? advice.stand - advice.hit : advice.hit - advice.stand;
    if (cost <= worst.cost) continue;
    const { total, soft } = value(hand);
    const held = soft ? say('blackjack.soft', { points: total }) : number(total);
    worst = { cost, text: say(`blackjack.costliest.${action}`, { hand: held, card: inWords(upcard), cost: number(cost, 2) }) };
  }
  if (worst.text) return [worst.text];
  return decisions.length > 0 ? [say('blackjack.costliest.none')] : [];
}

/** @param {Card} upcard */
const inWords = ({ rank }) => (rank === 1 ? say('blackjack.upcard.ace') : rank === 8 ? say('blackjack.upcard.eight') : say('blackjack.upcard', { points: Math.min(rank, 10) }));
