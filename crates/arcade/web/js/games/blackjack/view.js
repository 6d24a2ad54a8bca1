// Views for spectators: lines of text, one message per frame. See view.rs of the rules.

import { card } from './protocol.js';

/** @typedef {import('./protocol.js').Card} Card */
/**
 * @typedef {{ name: string, stage: string, score: number[], hand: Card[] }} Seat
 * @typedef {{ number: number, phase: string, played: number, rounds: number, upcard: Card | null, revealed: Card[] | null,
 *   seats: (Seat | null)[] }} Table
 */

/**
 * @param {string} text
 * @returns {Table[] | null} Null if it is malformed.
 */
export function parse(text) {
  /** @type {Table[]} */
  const tables = [];
  for (const line of text.split('\n')) {
    const [word, ...words] = line.split(' ');
    const rest = words.join(' ');
    const table = tables[tables.length - 1];
    if (word === 'LOBBY') continue;
    if (word === 'TABLE') {
      const [number, phase, played, rounds] = words;
      tables.push({ number: Number(number), phase, played: Number(played), rounds: Number(rounds), upcard: null, revealed: null, seats: [] });
      continue;
    }
    if (!table) return null;
    const seat = table.seats[table.seats.length - 1];
    switch (word) {
      case 'DEALER':
        table.upcard = card(rest);
        break;
      case 'REVEALED':
        table.revealed = parseHand(rest.split(', '));
        break;
      case 'SEAT': {
        const [, stage, name, ...score] = words;
        table.seats.push(stage === 'FREE' ? null : { name, stage: stage.toLowerCase(), score: score.map(Number), hand: [] });
        break;
      }
      case 'HAND':
        if (!seat) return null;
        seat.hand = parseHand(rest.split(', ')) ?? [];
        break;
      default:
        return null;
    }
  }
  return tables;
}

/** @param {string[]} names Null if one is malformed. */
export function parseHand(names) {
  const all = names.map(card);
  return all.every((one) => one !== null) ? /** @type {Card[]} */ (all) : null;
}
