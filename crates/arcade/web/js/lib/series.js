// Best of three: the score of consecutive matches of the same people. It is only shown; each match is rated by itself.

import { tabStorage } from './settings.js';

/** @typedef {{ match: string, people: string[], winner: string | null }} Entry A tie has no winner. */

/** Wins that decide a series. */
const NEEDED = 2;

/**
 * The wins by name, the most first.
 * @param {Entry[]} series
 * @returns {[string, number][]}
 */
export function wins(series) {
  /** @type {Map<string, number>} */
  const all = new Map(series.flatMap(({ people }) => people.map((name) => [name, 0])));
  for (const { winner } of series) if (winner !== null) all.set(winner, (all.get(winner) ?? 0) + 1);
  return [...all].sort(([, one], [, other]) => other - one);
}

/** The name that has won the series; null before. @param {Entry[]} series */
export const champion = (series) => wins(series).find(([, count]) => count >= NEEDED)?.[0] ?? null;

/**
 * Adds or replaces the last match. A new series starts after a decided one, and when other people play.
 * @param {Entry[]} series
 * @param {string} match
 * @param {import('../games/types.js').Row[]} rows Its result.
 */
export function extend(series, match, rows) {
  const people = rows.flatMap(({ name, bot }) => (bot ? [] : [name])).sort();
  const first = rows.filter(({ rank }) => rank === 1);
  const before = series.filter((entry) => entry.match !== match);
  const goesOn = champion(before) === null && before.every((entry) => entry.people.join('\n') === people.join('\n'));
  return [...(goesOn ? before : []), { match, people, winner: first.length === 1 ? first[0].name : null }];
}

/**
 * Extends the series of a room, which is stored until the tab is closed.
 * @param {string} id Of the room.
 * @param {string} match
 * @param {import('../games/types.js').Row[]} rows
 */
export function record(id, match, rows) {
  /** @type {Entry[]} */
  let series = [];
  try {
    series = JSON.parse(tabStorage.recall(`series ${id}`) ?? '[]');
  } catch {
    // The series starts with this match.
  }
  const extended = extend(series, match, rows);
  tabStorage.remember(`series ${id}`, JSON.stringify(extended));
  return extended;
}
