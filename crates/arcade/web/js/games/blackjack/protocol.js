// Text, one message a frame. See docs/protocols/blackjack.md.

export const SUITS = /** @type {const} */ (['Clubs', 'Diamonds', 'Hearts', 'Spades']);
/** Ranks from the ace, which is 1. */
export const RANKS = /** @type {const} */ ([
  'Ace', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten', 'Jack', 'Queen', 'King',
]);
/** By the word on the wire. */
const RESULTS = /** @type {const} */ ({ WIN: 'win', PUSH: 'push', LOOSE: 'loss', LOSE: 'loss', BUST: 'bust' });

/**
 * @typedef {{ rank: number, suit: (typeof SUITS)[number] }} Card Rank 1 is the ace, 11 to 13 are jack, queen and king.
 * @typedef {'win' | 'push' | 'loss' | 'bust'} Verdict
 * @typedef {{ kind: 'begin' }
 *   | { kind: 'card', card: Card }
 *   | { kind: 'dealer', card: Card }
 *   | { kind: 'decision' }
 *   | { kind: 'result', verdict: Verdict }
 *   | { kind: 'quit' }} BlackjackMessage A message from the dealer.
 */

/** @param {string} name Printable ASCII without spaces. */
export const join = (name) => `JOIN ${name}`;
/** Time limit of a decision in seconds. */
export const SECONDS = 30;
export const HIT = 'HIT';
export const STAND = 'STAND';

/**
 * @param {string} text
 * @returns {BlackjackMessage | null} Null if it is malformed.
 */
export function decode(text) {
  const [word, ...words] = text.split(' ');
  const rest = words.join(' ');
  if (word === 'CARD' || word === 'DEALER') {
    const found = card(rest);
    return found && { kind: word === 'CARD' ? 'card' : 'dealer', card: found };
  }
  if (word === 'RESULT') {
    const verdict = Object.hasOwn(RESULTS, rest) ? RESULTS[/** @type {keyof typeof RESULTS} */ (rest)] : null;
    return verdict && { kind: 'result', verdict };
  }
  if (words.length > 0) return null;
  switch (word) {
    case 'BEGIN':
      return { kind: 'begin' };
    case 'DECISION':
      return { kind: 'decision' };
    case 'QUIT':
      return { kind: 'quit' };
    default:
      return null;
  }
}

/**
 * @param {string} name As in `Ace of Spades`.
 * @returns {Card | null}
 */
export function card(name) {
  const [rankName, of, suitName, ...more] = name.split(' ');
  const rank = RANKS.findIndex((known) => known === rankName) + 1;
  const suit = SUITS.find((known) => known === suitName);
  return rank > 0 && suit && of === 'of' && more.length === 0 ? { rank, suit } : null;
}
