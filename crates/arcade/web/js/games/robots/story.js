// What happened in a match of robots, by the marks of its journal.

/** @type {import('../types.js').Story} */
export function story(marks) {
  /** Who was destroyed, by the moment. @type {Map<number, string[]>} */
  const turns = new Map();
  for (const { at, kind, text } of marks) {
    const name = kind === 'death' ? /^(.*) is destroyed$/.exec(text)?.[1] : undefined;
    if (name !== undefined) turns.set(at, [...(turns.get(at) ?? []), name]);
  }
  if (turns.size === 0) return [{ at: 0, text: 'Nobody was destroyed.' }];
  const all = [...turns];
  const [first] = all;
  const deadliest = all.reduce((one, other) => (other[1].length > one[1].length ? other : one));
  const sentences = [{ at: first[0], text: `${inWords(first[1])} the first to be destroyed.` }];
  if (deadliest[1].length > 1) sentences.push({ at: deadliest[0], text: `The deadliest turn: ${inWords(deadliest[1])} destroyed at once.` });
  const last = all[all.length - 1];
  if (last !== first && last !== deadliest) sentences.push({ at: last[0], text: `${inWords(last[1])} destroyed as the last.` });
  return sentences;
}

/** @param {string[]} names */
const inWords = (names) => (names.length === 1 ? `${names[0]} was` : `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]} were`);
