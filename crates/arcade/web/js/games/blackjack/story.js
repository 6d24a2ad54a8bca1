import { say } from '../../lib/text.js';
import { parse } from './view.js';

/** Requests of earlier frames for the round in which the lead changed. */
const MAX_REQUESTS = 12;

/** @type {import('../types.js').Story} */
export async function story(_, rows, frames) {
  if (rows.length < 2) return [];
  let shown = await frames();
  let moment = leadChange(rows, shown);
  for (let requests = 0; moment === null && (shown[0]?.at ?? 0) > 0 && requests < MAX_REQUESTS; requests += 1) {
    const [{ at }] = shown;
    const earlier = (await frames(at)).filter((frame) => frame.at < at);
    if (earlier.length === 0) break;
    shown = [...earlier, ...shown];
    moment = leadChange(rows, shown);
  }
  return moment === null ? [] : [moment];
}

/**
 * When the winners took the lead; null if that is not in the frames.
 * @param {import('../types.js').Row[]} rows
 * @param {import('../../lib/playback.js').Frame[]} frames
 */
function leadChange(rows, frames) {
  /** The seats with the most wins, since when and since which round; round 0 if that is unknown. */
  let lead = { seats: '', at: 0, round: 0 };
  let last = { at: 0, played: 0, rounds: 0 };
  for (const { at, data } of frames) {
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
  if (lead.round === 0) return null;
  const [{ name, seat }] = rows;
  return { at: lead.at, text: lead.seats === seat ? say('blackjack.story.lead', { name, round: lead.round }) : say('blackjack.story.level', { round: lead.round }) };
}
