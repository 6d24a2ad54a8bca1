// The player's record of the daily puzzle of mastermind, from the results that this browser keeps by date.

import { element } from './dom.js';
import { say } from './text.js';

const DAY = 86_400_000;
/** The guesses of a game; see TURNS in the protocol of mastermind. */
const TURNS = 10;
/** Days of the distribution. */
const DAYS = 30;

/**
 * `streak` counts the days up to today, or to yesterday while today's code is open. `turns` counts the solved codes by
 * their number of guesses, from one.
 * @param {(date: string) => string | null} recall The stored result of a date: the number of the game, how it ended and the guesses.
 * @param {Date} now
 */
export function dailyRecord(recall, now) {
  const turns = Array.from({ length: TURNS }, () => 0);
  let streak = 0;
  let isUnbroken = true;
  let isSolved = false;
  for (let day = 0; day < DAYS; day += 1) {
    const [, how, count] = (recall(new Date(now.getTime() - day * DAY).toISOString().slice(0, 10)) ?? '').split(' ');
    const won = how === 'won';
    if (won && turns[Number(count) - 1] !== undefined) turns[Number(count) - 1] += 1;
    if (day === 0) isSolved = won;
    // Today's code may still be solved.
    if (won && isUnbroken) streak += 1;
    else if (day > 0 || how !== undefined) isUnbroken = false;
  }
  return { streak, turns, isSolved };
}

/**
 * The distribution of the guesses; nothing if no code is solved.
 * @param {number[]} turns
 */
export function dailyBars(turns) {
  const most = Math.max(...turns);
  if (most === 0) return [];
  const bars = turns.map((count) => {
    const bar = element('i', {});
    bar.style.setProperty('--part', String(count / most));
    return bar;
  });
  const label = say('lobby.daily.bars', { list: turns.map((count, index) => `${index + 1}: ${count}`).join(', ') });
  return [element('div', { class: 'bars', role: 'img', 'aria-label': label }, ...bars)];
}
