// What the page says of each game outside of a room.

/**
 * @typedef {'nuggets' | 'robots' | 'blackjack' | 'mastermind'} Game
 * @typedef {{ name: string, seat: string, proven?: boolean, bot?: boolean }} Player
 * @typedef {{ rank: number, name: string, seat: string, score: number, proven?: boolean, bot?: boolean }} Row
 * @typedef {{ id: string, game: Game, title: string, phase: string, taken: number, seats: number, port: number, players: Player[],
 *   result: Row[] | null, watchers?: number, permanent?: boolean, match?: string | null, options?: Record<string, unknown> }} Room As the hub tells of it.
 * @typedef {{ id: string, game: Game, title: string, room: string, started: string, seconds: number, players: Row[] }} Match
 * @typedef {{ rank: number, name: string, rating: number, matches: number, wins: number, proven?: boolean, bot?: boolean }} Leader
 */

/** @type {Record<Game, { title: string, line: string, score: (score: number) => string }>} */
export const GAMES = {
  nuggets: {
    title: 'Nuggets',
    line: 'Find the gold in a dark cave before the others do.',
    score: (score) => `${score} ${score === 1 ? 'nugget' : 'nuggets'}`,
  },
  robots: {
    title: 'Robots',
    line: 'Bombs, blocks, and whoever is destroyed least wins.',
    score: (score) => (score === 0 ? 'never destroyed' : score === 1 ? 'destroyed once' : `destroyed ${score} times`),
  },
  blackjack: {
    title: 'Blackjack',
    line: 'Hit or stand against the dealer.',
    score: (score) => `${score > 0 ? '+' : ''}${score}`,
  },
  mastermind: {
    title: 'Mastermind',
    line: 'Find the hidden code in ten guesses.',
    score: (score) => (score > 10 ? 'not found' : `${score} ${score === 1 ? 'turn' : 'turns'}`),
  },
};

/** @param {string} game */
export const isGame = (game) => Object.hasOwn(GAMES, game);

/**
 * Whether each in the room plays a game of their own, so that there are always seats.
 * @param {Room} room
 */
export const isAlone = ({ options }) => options?.['mode'] === 'solo' || options?.['mode'] === 'daily';

/** @param {Room} room */
export function phaseInWords(room) {
  const { phase, taken, seats } = room;
  if (isAlone(room)) return taken === 0 ? 'Nobody plays yet' : taken === 1 ? 'One plays' : `${taken} play`;
  switch (phase) {
    case 'lobby':
      return taken === 0 ? 'Waiting for players' : `Waiting for players, ${taken} of ${seats} are there`;
    case 'playing':
      return 'A game is on';
    default:
      return 'Over';
  }
}

/**
 * The command that joins a room from a terminal.
 * @param {Room} room
 */
export function command({ game, port }) {
  const host = location.hostname;
  const bare = host.replace(/^\[|\]$/g, '');
  switch (game) {
    case 'nuggets':
      return `cargo run -p nuggets-client -- ${bare} ${port} yourname`;
    case 'robots':
      return `cargo run -p robots-client -- -s ${host}:${port} --gui`;
    case 'blackjack':
      return `cargo run -p player -- yourname ${bare} ${port} --human`;
    case 'mastermind':
      return `nc ${bare} ${port}`;
  }
}

/**
 * Who is first, in words.
 * @param {{ rank: number, name: string }[]} rows
 */
export function winners(rows) {
  const first = rows.filter(({ rank }) => rank === 1).map(({ name }) => name);
  if (first.length === 0) return 'The game is over';
  if (first.length === 1) return `${first[0]} wins`;
  if (first.length > 3) return `${first.length} players share the first place`;
  return `${first.slice(0, -1).join(', ')} and ${first[first.length - 1]} share the first place`;
}
