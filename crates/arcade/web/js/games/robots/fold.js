import { say } from '../../lib/text.js';

/** @typedef {import('./protocol.js').RobotsMessage} RobotsMessage */
/** @typedef {import('./protocol.js').RobotsEvent} RobotsEvent */
/** @typedef {import('./protocol.js').Settings} Settings */
/** @typedef {import('./protocol.js').Player} Player */
/** @typedef {import('./protocol.js').Position} Position */

/**
 * @typedef {object} Game
 * @property {number} turn
 * @property {Map<number, Position>} positions
 * @property {Map<number, number>} scores Destructions of each robot.
 * @property {Map<string, Position>} blocks By the key of the position.
 * @property {Map<number, { position: Position, timer: number, owner: number | null }>} bombs Turns until they explode, and who has placed
 *   them, if known.
 * @property {Map<string, Position>} blasts Fields that an explosion of this turn covers.
 * @property {{ player: number, position: Position }[]} destroyed Robots that were destroyed in this turn, and where.
 * @property {{ turn: number, by: number, player: number }[]} hits Destructions by known owners of bombs.
 * @property {boolean} whole Whether the hits are those of the whole game, from its first turn.
 */

/**
 * @typedef {object} RobotsState
 * @property {Settings | null} settings
 * @property {Map<number, Player>} players The players of the game, or those who wait in the lobby.
 * @property {Game | null} game Null in the lobby.
 * @property {{ players: Map<number, Player>, scores: Map<number, number> } | null} last The last result.
 * @property {number} games The number of games that have ended.
 */

/** @returns {RobotsState} */
export function initialState() {
  return { settings: null, players: new Map(), game: null, last: null, games: 0 };
}

/** @param {Position} position */
export const positionKey = ({ x, y }) => `${x},${y}`;

/**
 * @param {RobotsState} state
 * @param {RobotsMessage} message
 */
export function fold(state, message) {
  switch (message.kind) {
    case 'hello':
      Object.assign(state, initialState(), { settings: message.settings });
      break;
    case 'accepted':
      state.players.set(message.id, message.player);
      break;
    case 'started':
      state.players = message.players;
      state.game = {
        turn: 0,
        positions: new Map(),
        scores: new Map([...message.players.keys()].map((id) => [id, 0])),
        blocks: new Map(),
        bombs: new Map(),
        blasts: new Map(),
        destroyed: [],
        hits: [],
        whole: false,
      };
      break;
    case 'turn':
      if (state.game && state.settings) takeTurn(state.game, state.settings, message.turn, message.events);
      break;
    case 'ended':
      state.last = { players: state.players, scores: message.scores };
      state.players = new Map();
      state.game = null;
      state.games += 1;
      break;
  }
}

/**
 * @param {Game} game
 * @param {Settings} settings
 * @param {number} turn
 * @param {RobotsEvent[]} events
 */
function takeTurn(game, settings, turn, events) {
  game.turn = turn;
  game.whole ||= turn === 0;
  game.blasts = new Map();
  game.destroyed = [];
  for (const bomb of game.bombs.values()) bomb.timer -= 1;
  // Explosions are computed against the blocks at the start of the turn.
  const before = new Map(game.blocks);
  const destroyed = new Set();
  // Robots act in the order of their numbers, once each.
  let acted = -1;
  const actor = (/** @type {Position} */ { x, y }) => {
    const there = [...game.positions].filter(([id, at]) => at.x === x && at.y === y && id > acted && !destroyed.has(id)).map(([id]) => id);
    const first = there.length > 0 ? Math.min(...there) : null;
    acted = first ?? acted;
    return first;
  };
  for (const event of events) {
    switch (event.kind) {
      case 'bombPlaced':
        game.bombs.set(event.id, { position: event.position, timer: settings.timer, owner: actor(event.position) });
        break;
      case 'bombExploded': {
        const bomb = game.bombs.get(event.id);
        if (bomb) for (const cell of blast(bomb.position, settings, before)) game.blasts.set(positionKey(cell), cell);
        game.bombs.delete(event.id);
        for (const block of event.blocks) game.blocks.delete(positionKey(block));
        for (const player of event.robots) {
          destroyed.add(player);
          const by = bomb?.owner ?? null;
          const isCounted = game.hits.some((hit) => hit.turn === turn && hit.by === by && hit.player === player);
          if (by !== null && !isCounted) game.hits.push({ turn, by, player });
        }
        break;
      }
      case 'playerMoved': {
        const from = game.positions.get(event.id);
        if (from && destroyed.has(event.id)) game.destroyed.push({ player: event.id, position: from });
        game.positions.set(event.id, event.position);
        acted = event.id;
        break;
      }
      case 'blockPlaced':
        game.blocks.set(positionKey(event.position), event.position);
        actor(event.position);
        break;
    }
  }
  for (const robot of destroyed) game.scores.set(robot, (game.scores.get(robot) ?? 0) + 1);
}

/**
 * How often a robot has destroyed others; null if the page has not followed the whole game.
 * @param {Game} game
 * @param {number} id
 */
export const hitsBy = ({ whole, hits }, id) => (whole ? hits.filter(({ by, player }) => by === id && player !== id).length : null);

/**
 * Hits and deaths in words.
 * @param {number | null} hits As of `hitsBy`.
 * @param {number} deaths
 */
export const tally = (hits, deaths) => [...(hits === null ? [] : [say('robots.hits', { count: hits })]), say('gap.robots', { count: deaths })].join(', ');

/**
 * An arm ends at the edge, or at the first block, which it covers.
 * @param {Position} position
 * @param {{ width: number, height: number, radius: number }} settings
 * @param {Map<string, Position>} blocks
 * @returns {Position[]}
 */
export function blast(position, { width, height, radius }, blocks) {
  const covered = [position];
  if (blocks.has(positionKey(position))) return covered;
  for (const [dx, dy] of [[0, 1], [1, 0], [0, -1], [-1, 0]]) {
    for (let distance = 1; distance <= radius; distance += 1) {
      const cell = { x: position.x + dx * distance, y: position.y + dy * distance };
      if (cell.x < 0 || cell.y < 0 || cell.x >= width || cell.y >= height) break;
      covered.push(cell);
      if (blocks.has(positionKey(cell))) break;
    }
  }
  return covered;
}

/**
 * Fields are (column, row) from the lower left.
 * @param {Game} game
 * @param {Settings} settings
 * @param {number | null} own
 */
export function asText(game, { width, height }, own) {
  const at = (/** @type {Position} */ { x, y }) => `(${x + 1}, ${y + 1})`;
  const lines = [say('robots.text.board', { columns: width, rows: height })];
  for (const [id, position] of game.positions) lines.push(id === own ? say('robots.text.you', { at: at(position) }) : say('robots.text.robot', { id, at: at(position) }));
  for (const { position, timer } of game.bombs.values()) lines.push(say('robots.text.bomb', { at: at(position), timer }));
  lines.push(say('robots.text.blocks', { places: [...game.blocks.values()].map(at).join(' ') || say('robots.text.none') }));
  return lines.join('\n');
}

/**
 * Fewest destructions first, equal scores share a rank.
 * @param {Map<number, Player>} players
 * @param {Map<number, number>} scores
 * @returns {{ rank: number, id: number, name: string, score: number }[]}
 */
export function ranking(players, scores) {
  const rows = [...scores].map(([id, score]) => ({ rank: 0, id, name: players.get(id)?.name ?? `player ${id}`, score }));
  rows.sort((one, other) => one.score - other.score || one.id - other.id);
  rows.forEach((row, index) => {
    row.rank = index > 0 && rows[index - 1].score === row.score ? rows[index - 1].rank : index + 1;
  });
  return rows;
}
