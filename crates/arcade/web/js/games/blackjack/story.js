import { say } from '../../lib/text.js';
import { parse } from './view.js';

/** @type {import('../types.js').Story} */
export async function story(_, rows, frames) {
  if (rows.length < 2) return [];
  /** The seats with the most wins, since when and since which round; round 0 if that is unknown. */
  let lead = { seats: '', at: 0, round: 0 };
  let last = { at: 0, played: 0, rounds: 0 };
  for (const { at, data } of await frames()) {
    for (const { number, played, rounds, seats } of parse(String(data)) ?? []) {
      const wins = seats.flatMap((seat, index) => (seat ? [{ seat: `table ${number}, seat ${index + 1}`, won: seat.score[0] }] : []));
      if (!wins.some(({ seat }) => seat === rows[0].seat)) continue;
      const most = Math.max(...wins.map(({ won }) => won));
      const first = wins.flatMap(({ seat, won }) => (won === most ? [seat] : [])).join();
      last = { at, played, rounds };
      if (first !== lead.seats) lead = { seats: first, at, round: lead.seats === '' ? 0 : played };
    }
  }
  // The frames may lack the last round, after which the table has gone.
  const leaders = rows.flatMap((row) => (row.rank === 1 ? [row.seat] : [])).sort().join();
  if (lead.seats !== leaders) lead = { seats: leaders, at: last.at, round: last.played === last.rounds - 1 ? last.rounds : 0 };
  if (lead.round === 0) return [];
  const [{ name, seat }] = rows;
  return [{ at: lead.at, text: lead.seats === seat ? say('blackjack.story.lead', { name, round: lead.round }) : say('blackjack.story.level', { round: lead.round }) }];
}
