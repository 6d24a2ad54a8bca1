import { say } from '../../lib/text.js';

/** The end of the text of a mark for a player who has found the code. */
const WON = ': won';

/** @type {import('../types.js').Story} */
export function story(marks, rows = []) {
  const finds = marks.flatMap(({ at, kind, text }) => (kind === 'over' && text.endsWith(WON) ? [{ at, name: text.slice(0, -WON.length) }] : []));
  if (finds.length === 0) return [];
  const turns = (/** @type {string} */ name) => rows.find((row) => row.name === name)?.score ?? 0;
  const [first] = finds;
  // Fewer turns win, not the earlier find.
  const winner = finds.find(({ name }) => name === rows[0]?.name) ?? first;
  const sentences = [{ at: winner.at, text: say('mastermind.other.won', { name: winner.name, count: turns(winner.name) }) }];
  if (turns(first.name) > turns(winner.name)) sentences.push({ at: first.at, text: say('mastermind.story.first', { name: first.name, count: turns(first.name) }) });
  return sentences;
}
