import { list, say } from '../../lib/text.js';
import { fold, initialState } from './fold.js';
import { decode } from './protocol.js';

/** @type {import('../types.js').Story} */
export function story(marks, rows = []) {
  /** Names of destroyed robots by time. @type {Map<number, string[]>} */
  const turns = new Map();
  for (const { at, kind, name } of marks) {
    if (kind === 'death' && name !== undefined) turns.set(at, [...(turns.get(at) ?? []), name]);
  }
  if (turns.size === 0) return [{ at: 0, text: say('robots.story.nobody') }];
  const all = [...turns];
  const [first] = all;
  const loser = rows.find(({ rank }) => rank > 1)?.name ?? '';
  const decisive = all.filter(([, names]) => names.includes(loser)).pop();
  const deadliest = all.reduce((one, other) => (other[1].length > one[1].length ? other : one));
  const sentences = decisive ? [{ at: decisive[0], text: say('robots.story.decided', { name: loser }) }] : [];
  sentences.push({ at: first[0], text: say('robots.story.first', who(first[1])) });
  if (deadliest[1].length > 1) sentences.push({ at: deadliest[0], text: say('robots.story.deadliest', { names: list(deadliest[1]) }) });
  const last = all[all.length - 1];
  if (last !== first && last !== deadliest) sentences.push({ at: last[0], text: say('robots.story.last', who(last[1])) });
  return sentences;
}

/** @param {string[]} names */
const who = (names) => ({ names: list(names), count: names.length });

/**
 * The hit on the player, or otherwise the first one by the player, of the last turn in a sentence; null without a hit.
 * @param {import('./fold.js').Game} game
 * @param {number} own
 * @param {(id: number) => string} nameOf
 */
export function hitInWords({ turn, hits, destroyed }, own, nameOf) {
  const current = hits.filter((hit) => hit.turn === turn);
  const taken = current.find(({ player }) => player === own);
  if (taken) return taken.by === own ? say('robots.hit.self') : say('robots.hit.you', { name: nameOf(taken.by) });
  if (destroyed.some(({ player }) => player === own)) return say('robots.destroyed');
  const given = current.find(({ by }) => by === own);
  return given ? say('robots.hit.other', { name: nameOf(given.player) }) : null;
}

/**
 * Marks with the players behind each hit: one per bomber and turn.
 * @param {import('../../lib/playback.js').Frame[]} frames
 * @param {(seat: string, wire: string) => string} realName
 */
export function frameMarks(frames, realName) {
  const state = initialState();
  /** @type {{ at: number, kind: string, text: string }[]} */
  const marks = [];
  for (const { at, data } of frames) {
    const message = data instanceof ArrayBuffer ? decode(new Uint8Array(data)) : null;
    if (!message) continue;
    fold(state, message);
    const { game, players } = state;
    if (message.kind !== 'turn' || !game) continue;
    const name = (/** @type {number} */ id) => realName(String(id), players.get(id)?.name ?? String(id));
    /** @type {Map<number, string[]>} */
    const victims = new Map();
    for (const { turn, by, player } of game.hits) if (turn === game.turn && by !== player) victims.set(by, [...(victims.get(by) ?? []), name(player)]);
    for (const [by, names] of victims) marks.push({ at, kind: 'death', text: say('robots.hits.other', { name: name(by), names: list(names) }) });
    for (const { player } of game.destroyed) {
      const hits = game.hits.filter((hit) => hit.turn === game.turn && hit.player === player);
      if (hits.every(({ by }) => by === player)) marks.push({ at, kind: 'death', text: say(hits.length > 0 ? 'robots.hits.self' : 'robots.hits.unknown', { name: name(player) }) });
    }
  }
  return marks;
}
