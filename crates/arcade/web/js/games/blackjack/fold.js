/** @typedef {import('./protocol.js').BlackjackMessage} BlackjackMessage */
/** @typedef {import('./protocol.js').Card} Card */
/** @typedef {import('./protocol.js').Verdict} Verdict */

/**
 * @typedef {object} BlackjackState
 * @property {Card[]} hand
 * @property {Card | null} upcard The dealer's face-up card. The hole card is never sent.
 * @property {boolean} awaitsDecision Whether the dealer waits for a decision.
 * @property {Verdict | null} verdict Of the round that has just ended.
 * @property {string} counted The last counted round: its cards and its verdict.
 * @property {Record<Verdict, number>} counts
 * @property {number[]} bankroll Wins less losses after each round, for the curve.
 * @property {boolean} over
 */

/** Beyond this number of points, every other one is dropped. */
const MAX_CURVE = 4096;

/** @returns {BlackjackState} */
export function initialState() {
  return {
    hand: [],
    upcard: null,
    awaitsDecision: false,
    verdict: null,
    counted: '',
    counts: { win: 0, push: 0, loss: 0, bust: 0 },
    bankroll: [0],
    over: false,
  };
}

/**
 * Rounds that the dealer does not send again after a reload.
 * @param {BlackjackState} state
 */
export const savedRounds = ({ counted, counts, bankroll }) => JSON.stringify({ counted, counts, bankroll });

/**
 * Restores the state from before a reload.
 * @param {string | null} text Of {@link savedRounds}.
 * @returns {BlackjackState}
 */
export function restoreRounds(text) {
  const state = initialState();
  if (text !== null) Object.assign(state, JSON.parse(text));
  return state;
}

/**
 * @param {BlackjackState} state
 * @param {BlackjackMessage} message
 */
export function fold(state, message) {
  switch (message.kind) {
    case 'begin':
      state.hand = [];
      state.upcard = null;
      state.awaitsDecision = false;
      state.verdict = null;
      break;
    case 'card':
      state.hand.push(message.card);
      break;
    case 'dealer':
      state.upcard = message.card;
      break;
    case 'decision':
      state.awaitsDecision = true;
      break;
    case 'result': {
      const { verdict } = message;
      const reward = verdict === 'win' ? 1 : verdict === 'push' ? 0 : -1;
      state.awaitsDecision = false;
      state.verdict = verdict;
      // A repetition after a reconnect. A new round has the same cards in the same order once in 132,600 rounds.
      const round = JSON.stringify([state.hand, state.upcard, verdict]);
      if (round === state.counted) break;
      state.counted = round;
      state.counts[verdict] += 1;
      state.bankroll.push(state.bankroll[state.bankroll.length - 1] + reward);
      if (state.bankroll.length > MAX_CURVE) state.bankroll = state.bankroll.filter((_, index) => index % 2 === 0);
      break;
    }
    case 'quit':
      state.awaitsDecision = false;
      state.over = true;
      break;
  }
}

/**
 * Soft if an ace counts 11.
 * @param {Card[]} hand
 * @returns {{ total: number, soft: boolean }}
 */
export function value(hand) {
  const hard = hand.reduce((sum, { rank }) => sum + Math.min(rank, 10), 0);
  const soft = hard <= 11 && hand.some(({ rank }) => rank === 1);
  return { total: soft ? hard + 10 : hard, soft };
}
