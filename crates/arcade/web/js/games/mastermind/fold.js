import { say } from '../../lib/text.js';

/**
 * @typedef {import('./protocol.js').MastermindMessage} MastermindMessage
 * @typedef {import('./protocol.js').Mode} Mode
 * @typedef {import('./protocol.js').Rules} Rules
 * @typedef {import('./protocol.js').Line} Line
 * @typedef {import('./protocol.js').Advice} Advice
 * @typedef {import('./protocol.js').Lifeline} Lifeline
 * @typedef {import('./protocol.js').Over} Over
 */

/**
 * The visible part of a game.
 * @typedef {{ number: number, rules: Rules, lines: Line[], over: Over | null }} Board
 * @typedef {{ turn: number, lifelines: [Lifeline, Lifeline], hints: number }} Turn
 * @typedef {object} MastermindState
 * @property {{ mode: Mode, rules: Rules, players: number | null, date: string | null } | null} room
 * @property {number | null} seat The player's seat.
 * @property {Map<number, { name: string, board: Board | null }>} places By seat.
 * @property {number | null} missing Players that a race waits for.
 * @property {Turn | null} turn The player's next turn.
 * @property {Advice | null} advice
 * @property {string[]} possible All possible codes, if they are few.
 * @property {string | null} refused Why the last request was rejected.
 * @property {string | null} closingText
 */

/** @returns {MastermindState} */
export function initialState() {
  return { room: null, seat: null, places: new Map(), missing: null, turn: null, advice: null, possible: [], refused: null, closingText: null };
}

/**
 * @param {MastermindState} state
 * @param {MastermindMessage} message
 */
export function fold(state, message) {
  switch (message.kind) {
    case 'room': {
      // A snapshot follows.
      const { mode, rules, players, date } = message;
      Object.assign(state, initialState(), { room: { mode, rules, players, date } });
      break;
    }
    case 'ok':
      state.seat = message.seat;
      break;
    case 'seat':
      state.places.set(message.seat, { name: message.name, board: null });
      break;
    case 'left':
      state.places.delete(message.seat);
      break;
    case 'wait':
      state.missing = message.missing;
      break;
    case 'game': {
      const place = state.places.get(message.seat);
      state.missing = null;
      if (place) place.board = { number: message.number, rules: message.rules, lines: [], over: null };
      if (state.seat === message.seat) forgetTurn(state);
      break;
    }
    case 'line': {
      const board = state.places.get(message.seat)?.board;
      if (board) put(board, message.line);
      break;
    }
    case 'turn':
      forgetTurn(state);
      state.turn = { turn: message.turn, lifelines: message.lifelines, hints: message.hints };
      break;
    case 'hint':
      state.advice = message.advice;
      state.possible = [];
      break;
    case 'possible':
      state.possible = message.codes;
      break;
    case 'over': {
      const board = state.places.get(message.seat)?.board;
      if (board) board.over = message.over;
      if (state.seat === message.seat) forgetTurn(state);
      break;
    }
    case 'no':
      state.refused = message.text;
      break;
    case 'bye':
      state.closingText = message.text;
      break;
  }
}

/** @param {MastermindState} state */
function forgetTurn(state) {
  Object.assign(state, { turn: null, advice: null, possible: [], refused: null });
}

/**
 * Inserts the line in the order of turns. It replaces a line of the same turn, since a hidden line may be revealed
 * later.
 * @param {Board} board
 * @param {Line} line
 */
function put(board, line) {
  if (line.kind === 'row' && line.guess.length !== board.rules.length) return;
  const at = board.lines.findIndex(({ turn }) => turn >= line.turn);
  if (at < 0) board.lines.push(line);
  else board.lines.splice(at, board.lines[at].turn === line.turn ? 1 : 0, line);
}

/** @param {MastermindState} state */
export const ownBoard = (state) => (state.seat === null ? null : (state.places.get(state.seat)?.board ?? null));

/**
 * Why the player's game is casual in a rated room; null if it is not.
 * @param {MastermindState} state
 */
export function casual(state) {
  const [own, usual] = [ownBoard(state), state.room?.rules];
  if (!own || !usual) return null;
  if (own.rules.length !== usual.length || own.rules.repeats !== usual.repeats) return 'rules';
  return state.advice !== null || (state.turn ?? own.over)?.hints ? 'hints' : null;
}

/** The price of a lifeline in turns. @param {1 | 2} lifeline */
export const price = (lifeline) => lifeline;

/**
 * The code as revealed by lifelines: a digit or a star for each place.
 * @param {Board} board
 */
export function knownCode({ rules, lines }) {
  const known = Array.from({ length: rules.length }, () => '*');
  for (const line of lines) if (line.kind === 'lifeline' && line.place !== null && line.peg !== null) known[line.place - 1] = line.peg;
  return known.join('');
}

/**
 * The result for the clipboard, without guesses and code. The terminal client writes the same in English.
 * @param {Board} board
 * @param {string | null} date The date of a daily puzzle.
 * @param {boolean} again Whether the player has played the puzzle before.
 */
export function share({ rules, lines, over }, date, again) {
  if (!over) return null;
  const facts = {
    length: rules.length,
    repeats: say(rules.repeats ? 'mastermind.repeats.yes' : 'mastermind.repeats.no'),
    result: over.how === 'won' ? over.turns : 'X',
  };
  const head = date ? say('mastermind.share.day', { date, ...facts }) : say('mastermind.share', facts);
  const hints = over.hints === 0 ? '' : say('mastermind.share.hints', { count: over.hints });
  const rows = lines.map((line) => {
    if (line.kind === 'lifeline') return say('mastermind.share.lifeline', { lifeline: line.lifeline, count: line.lifeline });
    const { red, white } = line;
    return '●'.repeat(red) + '○'.repeat(white) + '·'.repeat(rules.length - red - white);
  });
  return [head + hints + (again ? say('mastermind.share.again') : ''), ...rows].join('\n');
}
