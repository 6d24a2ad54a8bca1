import { RANKS } from './protocol.js';

/** @typedef {import('./protocol.js').Card} Card */
/** @typedef {import('./view.js').Table} Table */

export const SIGNS = { Clubs: '♣', Diamonds: '♦', Hearts: '♥', Spades: '♠' };

/** @param {Card} card */
export const shortRank = ({ rank }) => (rank === 1 ? 'A' : rank <= 10 ? String(rank) : RANKS[rank - 1][0]);

/** @param {Card} card */
export const isRed = ({ suit }) => suit === 'Diamonds' || suit === 'Hearts';

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Table | null} table
 * @param {number} width
 * @param {number} height
 */
export function drawSmall(context, table, width, height) {
  const felt = context.createRadialGradient(width / 2, height * 0.3, 10, width / 2, height * 0.4, width * 0.7);
  felt.addColorStop(0, '#1a6b47');
  felt.addColorStop(1, '#0b3b27');
  context.fillStyle = felt;
  context.fillRect(0, 0, width, height);
  context.strokeStyle = 'rgb(255 255 255 / 0.25)';
  context.lineWidth = 2;
  context.beginPath();
  context.arc(width / 2, -height * 0.25, height * 0.85, 0, Math.PI);
  context.stroke();
  const size = height * 0.3;
  const dealer = table?.revealed ?? (table?.upcard ? [null, table.upcard] : [null, null]);
  row(context, dealer, width / 2, height * 0.08, size);
  const seats = table ? table.seats : [null, null];
  seats.forEach((seat, index) => {
    const x = (width * (index + 1)) / (seats.length + 1);
    const bow = Math.abs((index + 1) / (seats.length + 1) - 0.5) * height * 0.2;
    if (seat) row(context, seat.hand, x, height * 0.6 - bow, size);
    else {
      context.strokeStyle = 'rgb(255 255 255 / 0.4)';
      context.setLineDash([4, 4]);
      context.strokeRect(x - size * 0.36, height * 0.6 - bow, size * 0.72, size);
      context.setLineDash([]);
    }
  });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {(Card | null)[]} cards
 * @param {number} x Of the centre.
 * @param {number} y
 * @param {number} size The height of a card.
 */
function row(context, cards, x, y, size) {
  const wide = size * 0.72;
  const step = wide * (cards.length > 3 ? 0.4 : 0.6);
  const left = x - (step * (cards.length - 1) + wide) / 2;
  cards.forEach((card, index) => {
    context.fillStyle = card ? '#ffffff' : '#2c5f93';
    context.strokeStyle = card ? '#777777' : '#dfe9f3';
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(left + step * index, y, wide, size, size * 0.1);
    context.fill();
    context.stroke();
    if (!card) return;
    context.fillStyle = isRed(card) ? '#a3101d' : '#1b1b1b';
    context.textAlign = 'left';
    context.textBaseline = 'top';
    context.font = `700 ${Math.round(size * 0.38)}px 'Fredoka Variable', system-ui, sans-serif`;
    context.fillText(shortRank(card), left + step * index + wide * 0.1, y + size * 0.08);
    context.font = `${Math.round(size * 0.36)}px 'Fredoka Variable', system-ui, sans-serif`;
    context.fillText(SIGNS[card.suit], left + step * index + wide * 0.1, y + size * 0.5);
  });
}
