// The daily puzzle and the daily challenges: the player's record, from the results that this browser keeps by date, and
// distributions as bars.

import { element } from './dom.js';
import { recall, remember } from './settings.js';
import { say } from './text.js';

const DAY = 86_400_000;
/** The guesses of a game; see TURNS in the protocol of mastermind. */
const TURNS = 10;
/** Days of the record. */
const DAYS = 30;
/** Bars of a distribution of scores. */
const BARS = 10;

/** The date of a day before now, in UTC. @param {Date} now @param {number} before */
const dateOf = (now, before) => new Date(now.getTime() - before * DAY).toISOString().slice(0, 10);

export const today = (now = new Date()) => dateOf(now, 0);

/**
 * The days in a row up to today, or to yesterday while today's result is open.
 * @param {(date: string) => boolean | null} succeeded Null without a result.
 * @param {Date} now
 */
export function streakOf(succeeded, now) {
  let streak = 0;
  for (let day = 0; day < DAYS; day += 1) {
    const result = succeeded(dateOf(now, day));
    if (result) streak += 1;
    else if (day > 0 || result === false) break;
  }
  return streak;
}

/**
 * Of the puzzle. `turns` counts the solved codes by their number of guesses, from one.
 * @param {(date: string) => string | null} recalled The stored result of a date: the number of the game, how it ended and the guesses.
 * @param {Date} now
 */
export function dailyRecord(recalled, now) {
  const turns = Array.from({ length: TURNS }, () => 0);
  /** @param {string} date */
  const solved = (date) => {
    const [, how, count] = (recalled(date) ?? '').split(' ');
    return how === undefined ? null : { won: how === 'won', count: Number(count) };
  };
  for (let day = 0; day < DAYS; day += 1) {
    const result = solved(dateOf(now, day));
    if (result?.won && turns[result.count - 1] !== undefined) turns[result.count - 1] += 1;
  }
  const streak = streakOf((date) => solved(date)?.won ?? null, now);
  return { streak, turns, isSolved: solved(today(now))?.won ?? false };
}

/** @param {string} game @param {string} date */
export function challengeScore(game, date) {
  const stored = recall(`${game} ${date}`);
  return stored === null ? null : Number(stored);
}

/** @param {string} game @param {string} date @param {number} score */
export const noteChallenge = (game, date, score) => remember(`${game} ${date}`, String(score));

/** The days in a row with an attempt at the challenge. @param {string} game */
export const challengeStreak = (game, now = new Date()) => streakOf((date) => (challengeScore(game, date) === null ? null : true), now);

/**
 * Groups scores into ranges of equal width.
 * @param {[number, number][]} scores Each score with its number of players, in ascending order.
 * @param {number | null} own
 */
export function distribution(scores, own) {
  if (scores.length === 0) return [];
  const [least, most] = [scores[0][0], scores[scores.length - 1][0]];
  const width = Math.ceil((most - least + 1) / BARS);
  const bars = Array.from({ length: Math.floor((most - least) / width) + 1 }, (_, index) => {
    const from = least + index * width;
    return { from, to: Math.min(from + width - 1, most), count: 0, own: own !== null && own >= from && own < from + width };
  });
  for (const [score, count] of scores) bars[Math.floor((score - least) / width)].count += count;
  return bars;
}

/**
 * The share of other players with a lower score, in percent; null without other players.
 * @param {[number, number][]} scores
 * @param {number} own
 */
export function betterThan(scores, own) {
  const sum = (/** @type {[number, number][]} */ all) => all.reduce((total, [, count]) => total + count, 0);
  const others = sum(scores) - 1;
  return others > 0 ? Math.round((100 * sum(scores.filter(([score]) => score < own))) / others) : null;
}

/**
 * Nothing if all counts are zero.
 * @param {number[]} counts
 * @param {string} label
 * @param {number} [own] The bar of the player.
 */
export function bars(counts, label, own = -1) {
  const most = Math.max(0, ...counts);
  if (most === 0) return [];
  const all = counts.map((count, index) => {
    const bar = element('i', index === own ? { class: 'own' } : {});
    bar.style.setProperty('--part', String(count / most));
    return bar;
  });
  return [element('div', { class: 'bars', role: 'img', 'aria-label': label }, ...all)];
}

/**
 * The distribution of the guesses; nothing if no code is solved.
 * @param {number[]} turns
 */
export const dailyBars = (turns) => bars(turns, say('lobby.daily.bars', { list: turns.map((count, index) => `${index + 1}: ${count}`).join(', ') }));
