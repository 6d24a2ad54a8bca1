import { say, sentence, translate } from '../../lib/text.js';

/** @type {import('../types.js').Story} */
export function story(marks, rows = []) {
  const finds = marks.flatMap(({ at, kind, name, count }) => (kind === 'gold' && name !== undefined && count !== undefined ? [{ at, name, nuggets: count }] : []));
  const swaps = marks.filter(({ kind }) => kind === 'swap');
  const sentences = [];
  const [first] = finds;
  const [winner, second] = rows;
  const lead = second && second.rank > 1 ? takesLead(finds, winner.name) : null;
  if (lead !== null) sentences.push({ at: lead, text: say('nuggets.story.lead', { name: winner.name }) });
  if (first) {
    const best = finds.reduce((one, other) => (other.nuggets > one.nuggets ? other : one));
    sentences.push({ at: best.at, text: say('nuggets.story.biggest', { name: best.name, count: best.nuggets }) });
    const last = finds[finds.length - 1];
    if (last !== best) sentences.push({ at: last.at, text: say('nuggets.story.last', { name: last.name }) });
  }
  if (swaps.length > 0) sentences.push({ at: swaps[0].at, text: swaps.length === 1 ? sentence(translate(swaps[0].text)) : say('nuggets.story.swaps', { count: swaps.length }) });
  return sentences;
}

/**
 * When a player has got more than all others for the last time; null if always.
 * @param {{ at: number, name: string, nuggets: number }[]} finds
 * @param {string} name
 */
function takesLead(finds, name) {
  /** @type {Map<string, number>} */
  const purses = new Map();
  let leads = false;
  /** @type {number | null} */
  let leadsSince = null;
  for (const { at, name: who, nuggets } of finds) {
    purses.set(who, (purses.get(who) ?? 0) + nuggets);
    const others = [...purses].filter(([one]) => one !== name).map(([, purse]) => purse);
    const now = (purses.get(name) ?? 0) > Math.max(0, ...others);
    if (now && !leads) leadsSince = at;
    leads = now;
  }
  return leadsSince;
}
