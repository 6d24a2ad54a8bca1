// What happened in a match of nuggets, by the marks of its journal.

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
    sentences.push({ at: best.at, text: `The biggest find: ${best.name} picked up ${best.nuggets} nuggets at once.` });
    const last = finds[finds.length - 1];
    if (last !== best) sentences.push({ at: last.at, text: `${last.name} took the last pile.` });
  }
  if (swaps.length > 0) sentences.push({ at: swaps[0].at, text: swaps.length === 1 ? `${swaps[0].text}.` : `Players swapped places ${swaps.length} times.` });
  return sentences;
}
