// Highlights of a match of nuggets, from the marks of its journal.

import { say, sentence, told } from '../../lib/text.js';

/** @type {import('../types.js').Story} */
export function story(marks) {
  const finds = marks.flatMap(({ at, kind, text }) => {
    const found = kind === 'gold' ? /^(.*): (\d+) nuggets?$/.exec(text) : null;
    return found ? [{ at, name: found[1], nuggets: Number(found[2]) }] : [];
  });
  const swaps = marks.filter(({ kind }) => kind === 'swap');
  const sentences = [];
  const [first] = finds;
  if (first) {
    const best = finds.reduce((one, other) => (other.nuggets > one.nuggets ? other : one));
    sentences.push({ at: best.at, text: say('nuggets.story.biggest', { name: best.name, count: best.nuggets }) });
    const last = finds[finds.length - 1];
    if (last !== best) sentences.push({ at: last.at, text: say('nuggets.story.last', { name: last.name }) });
  }
  if (swaps.length > 0) sentences.push({ at: swaps[0].at, text: swaps.length === 1 ? sentence(told(swaps[0].text)) : say('nuggets.story.swaps', { count: swaps.length }) });
  return sentences;
}
