// A blackjack table on the page.

import { begin, best, fold, value } from '../fold/blackjack.js';
import { HIT, RANKS, STAND, decode, join } from '../protocol/blackjack.js';
import { parse } from '../protocol/blackjack-view.js';
import { element, listenToKeys, toggle } from './dom.js';

/** @typedef {import('../protocol/blackjack.js').Card} Card */

const SIGNS = { Clubs: '♣', Diamonds: '♦', Hearts: '♥', Spades: '♠' };
const VERDICTS = { win: 'You win.', push: 'A draw.', loss: 'You lose.', bust: 'Bust: you lose.' };

/**
 * @param {Card | null} card Null for a card that lies face down.
 */
function cardElement(card) {
  if (!card) return element('span', { class: 'card back', role: 'img', 'aria-label': 'a card face down' });
  const short = card.rank === 1 ? 'A' : card.rank <= 10 ? String(card.rank) : RANKS[card.rank - 1][0];
  const red = card.suit === 'Diamonds' || card.suit === 'Hearts';
  return element(
    'span',
    { class: red ? 'card red' : 'card', role: 'img', 'aria-label': `${RANKS[card.rank - 1]} of ${card.suit}` },
    short,
    element('br'),
    SIGNS[card.suit],
  );
}

/** @param {Card[]} hand */
function total(hand) {
  if (hand.length === 0) return '';
  const { total: points, soft } = value(hand);
  return `${soft ? 'soft ' : ''}${points}`;
}

/**
 * @param {import('./room.js').Stage} stage
 * @returns {import('./room.js').Play}
 */
export function playBlackjack({ board, controls, live, watching, name, send }) {
  const state = begin();
  let advises = false;
  const felt = element('div', { class: 'felt' });
  board.append(felt);
  /** @param {string} answer */
  const decide = (answer) => {
    if (!state.asked) return;
    state.asked = false;
    send(answer);
    show();
  };
  const hit = element('button', { type: 'button', class: 'primary', click: () => decide(HIT) }, 'Hit (h)');
  const stand = element('button', { type: 'button', class: 'primary', click: () => decide(STAND) }, 'Stand (s)');
  const advice = toggle('Advice', (on) => {
    advises = on;
    show();
  });
  if (!watching) controls.append(hit, stand, advice);
  const stopKeys = listenToKeys((event) => {
    const answer = event.key === 'h' ? HIT : event.key === 's' ? STAND : null;
    if (watching || answer === null) return false;
    decide(answer);
    return true;
  });

  const show = () => {
    hit.disabled = stand.disabled = !state.asked;
    const { win, push, loss, bust } = state.counts;
    const said = state.verdict
      ? VERDICTS[state.verdict]
      : state.asked
        ? 'Hit or stand?'
        : state.hand.length === 0
          ? 'Waiting for the table to begin.'
          : 'The others play.';
    const told = advises && state.asked && state.upcard ? ` The best table says: ${best(state.hand, state.upcard)}.` : '';
    felt.replaceChildren(
      element('h2', {}, 'Dealer'),
      element('div', { class: 'cards' }, ...(state.upcard ? [cardElement(null), cardElement(state.upcard)] : [])),
      element('h2', {}, `${name} ${total(state.hand)}`),
      element('div', { class: 'cards' }, ...state.hand.map(cardElement)),
      element('p', { role: 'status' }, said + told),
      element('p', {}, `Won ${win}, drawn ${push}, lost ${loss + bust}. Bankroll ${state.bankroll[state.bankroll.length - 1]}.`),
    );
    if (state.over) felt.append(element('p', {}, 'The table is over.'));
  };

  /** @param {string} text */
  const showView = (text) => {
    const tables = parse(text);
    if (!tables) return;
    felt.replaceChildren(
      ...tables.flatMap(({ number, played, rounds, upcard, revealed, seats }) => [
        element('h2', {}, `Table ${number}: round ${played} of ${rounds}`),
        element(
          'div',
          { class: 'cards' },
          ...(upcard ? [cardElement(null), cardElement(upcard)] : (revealed ?? []).map(cardElement)),
        ),
        ...seats.flatMap((seat) =>
          seat
            ? [element('p', {}, `${seat.name}, ${seat.stage} ${total(seat.hand)}`), element('div', { class: 'cards' }, ...seat.hand.map(cardElement))]
            : [element('p', {}, 'A free seat')],
        ),
      ]),
    );
  };

  show();
  return {
    open: () => {
      if (!watching) send(join(name));
    },
    message: (data) => {
      if (typeof data !== 'string') return;
      if (watching) {
        showView(data);
        return;
      }
      const message = decode(data);
      if (!message) return;
      fold(state, message);
      if (message.kind === 'result') live.textContent = VERDICTS[message.verdict];
      if (message.kind === 'decision') live.textContent = `You have ${total(state.hand)}. Hit or stand?`;
      show();
    },
    room: () => {},
    stop: stopKeys,
  };
}
