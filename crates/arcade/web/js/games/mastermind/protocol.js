// Text, one message a frame. See docs/protocols/mastermind.md.

/** Turns of a game. */
export const TURNS = 10;
/** Colours are written 1 to 8. */
export const COLOURS = 8;
const MODES = /** @type {const} */ (['solo', 'race', 'daily']);
const LIFELINES = /** @type {const} */ (['available', 'used', 'blocked']);
const ENDS = /** @type {const} */ (['won', 'lost', 'resigned', 'late']);

/**
 * @typedef {(typeof MODES)[number]} Mode
 * @typedef {(typeof LIFELINES)[number]} Lifeline Whether it would be granted.
 * @typedef {(typeof ENDS)[number]} End
 * @typedef {{ length: number, repeats: boolean }} Rules
 * @typedef {{ kind: 'row', turn: number, guess: string, red: number, white: number }} Row Stars represent a hidden guess.
 * @typedef {{ kind: 'lifeline', turn: number, lifeline: 1 | 2, place: number | null, peg: string | null }} Revealed Places count from 1.
 * @typedef {Row | Revealed} Line A guess or a lifeline, each of which takes a turn.
 * @typedef {{ turn: number, remaining: number, guess: string, bits: string, expected: string, worst: number, mayWin: boolean }} Advice
 * @typedef {{ how: End, turns: number, hints: number, code: string }} Over Stars represent a hidden code.
 * @typedef {{ kind: 'room', mode: Mode, rules: Rules, players: number | null, date: string | null }
 *   | { kind: 'ok', seat: number }
 *   | { kind: 'seat', seat: number, name: string }
 *   | { kind: 'left', seat: number }
 *   | { kind: 'wait', missing: number }
 *   | { kind: 'game', seat: number, number: number, rules: Rules }
 *   | { kind: 'line', seat: number, line: Line }
 *   | { kind: 'turn', turn: number, lifelines: [Lifeline, Lifeline], hints: number }
 *   | { kind: 'hint', advice: Advice }
 *   | { kind: 'possible', codes: string[] }
 *   | { kind: 'over', seat: number, over: Over }
 *   | { kind: 'no', text: string }
 *   | { kind: 'bye', text: string }} MastermindMessage A message from the server.
 */

/** @param {string} name */
export const play = (name) => `PLAY ${name}`;
/** @param {string} code */
export const guess = (code) => `GUESS ${code}`;
/** @param {1 | 2} number */
export const lifeline = (number) => `LIFELINE ${number}`;
/** @param {Rules} [rules] By default those of the room. */
export const another = (rules) => (rules ? `NEW ${rules.length} ${rules.repeats ? 'yes' : 'no'}` : 'NEW');
export const HINT = 'HINT';
export const RESIGN = 'RESIGN';
export const QUIT = 'QUIT';

/**
 * @param {string} text
 * @returns {MastermindMessage | null} Null if it is malformed.
 */
export function decode(text) {
  if (text.length > 256 || !/^[ -~]+$/.test(text)) return null;
  const [kind, ...words] = text.split(' ');
  if (words.length === 0 || !Object.hasOwn(DECODERS, kind)) return null;
  return DECODERS[kind](words);
}

/** Decoders by the first word. @type {Record<string, (words: string[]) => MastermindMessage | null>} */
const DECODERS = {
  ROOM: ([mode, length, colours, repeats, ...rest]) => {
    const known = oneOf(MODES, mode);
    const rules = rulesOf(length, repeats);
    if (!known || !rules || number(colours, 2, COLOURS) === null) return null;
    const [last] = rest;
    if (rest.length !== (known === 'solo' ? 0 : 1)) return null;
    const players = known === 'race' ? number(last, 0, 255) : null;
    if (known === 'race' && players === null) return null;
    return { kind: 'room', mode: known, rules, players, date: known === 'daily' ? last : null };
  },
  OK: (words) => about(words, 1, (seat) => ({ kind: 'ok', seat })),
  SEAT: ([seat, ...name]) => about([seat], 1, (known) => (name.join(' ').trim() ? { kind: 'seat', seat: known, name: name.join(' ') } : null)),
  LEFT: (words) => about(words, 1, (seat) => ({ kind: 'left', seat })),
  WAIT: (words) => about(words, 1, (missing) => ({ kind: 'wait', missing })),
  GAME: (words) =>
    about(words, 4, (seat) => {
      const [, game, length, repeats] = words;
      const rules = rulesOf(length, repeats);
      const count = number(game, 0, 0xffffffff);
      return rules && count !== null ? { kind: 'game', seat, number: count, rules } : null;
    }),
  ROW: (words) =>
    about(words, 5, (seat) => {
      const [, turn, code, reds, whites] = words;
      const [at, red, white] = [number(turn, 1, TURNS), number(reds, 0, 8), number(whites, 0, 8)];
      if (at === null || red === null || white === null || !isCode(code)) return null;
      // If all but one peg are in place, the last one cannot have the right colour in the wrong place.
      if (red + white > code.length || (red + 1 === code.length && white === 1)) return null;
      return { kind: 'line', seat, line: { kind: 'row', turn: at, guess: code, red, white } };
    }),
  LIFELINE: (words) =>
    about(words, 5, (seat) => {
      const [, turn, which, where, digit] = words;
      const [at, chosen] = [number(turn, 1, TURNS), number(which, 1, 2)];
      if (at === null || chosen === null) return null;
      const hidden = where === '*' && digit === '*';
      const place = hidden || chosen === 1 ? null : number(where, 1, 8);
      const peg = hidden ? null : digit;
      if (!hidden && (!/^[1-8]$/.test(digit) || (chosen === 1 ? where !== '*' : place === null))) return null;
      return { kind: 'line', seat, line: { kind: 'lifeline', turn: at, lifeline: chosen === 1 ? 1 : 2, place, peg } };
    }),
  TURN: ([turn, first, second, hints, ...rest]) => {
    const [at, count] = [number(turn, 1, TURNS), number(hints, 0, 1000)];
    const [one, two] = [oneOf(LIFELINES, first), oneOf(LIFELINES, second)];
    if (at === null || count === null || !one || !two || rest.length > 0) return null;
    return { kind: 'turn', turn: at, lifelines: [one, two], hints: count };
  },
  HINT: ([turn, possible, code, bits, expected, worst, wins, ...rest]) => {
    const [at, remaining, most] = [number(turn, 1, TURNS), number(possible, 0, 2 ** 32), number(worst, 0, 2 ** 32)];
    const mayWin = yesOrNo(wins);
    if (at === null || remaining === null || most === null || mayWin === null || rest.length > 0) return null;
    if (!/^[1-8]{4,8}$/.test(code) || !/^\d+\.\d\d$/.test(bits) || !/^\d+\.\d$/.test(expected)) return null;
    return { kind: 'hint', advice: { turn: at, remaining, guess: code, bits, expected, worst: most, mayWin } };
  },
  POSSIBLE: (codes) => (codes.length <= 20 && codes.every((code) => /^[1-8]{4,8}$/.test(code)) ? { kind: 'possible', codes } : null),
  OVER: (words) =>
    about(words, 5, (seat) => {
      const [, end, taken, requested, code] = words;
      const how = oneOf(ENDS, end);
      const [turns, hints] = [number(taken, 0, TURNS), number(requested, 0, 1000)];
      if (!how || turns === null || hints === null || !isCode(code)) return null;
      return { kind: 'over', seat, over: { how, turns, hints, code } };
    }),
  NO: (words) => ({ kind: 'no', text: words.join(' ') }),
  BYE: (words) => ({ kind: 'bye', text: words.join(' ') }),
};

/**
 * A message with `count` words, the first of which is a seat.
 * @param {string[]} words
 * @param {number} count
 * @param {(seat: number) => MastermindMessage | null} make
 */
function about(words, count, make) {
  const seat = number(words[0], 0, 255);
  return seat === null || words.length !== count ? null : make(seat);
}

/**
 * @param {string | undefined} text
 * @param {number} least
 * @param {number} most
 */
function number(text, least, most) {
  if (text === undefined || !/^(0|[1-9]\d*)$/.test(text)) return null;
  const value = Number(text);
  return value >= least && value <= most ? value : null;
}

/**
 * @template {string} T
 * @param {readonly T[]} known
 * @param {string | undefined} word
 * @returns {T | undefined}
 */
const oneOf = (known, word) => known.find((one) => one === word);

/** @param {string | undefined} word */
const yesOrNo = (word) => (word === 'yes' ? true : word === 'no' ? false : null);

/** @param {string} text */
const isCode = (text) => /^([1-8]{4,8}|\*{4,8})$/.test(text);

/**
 * @param {string | undefined} length
 * @param {string | undefined} repeats
 * @returns {Rules | null}
 */
function rulesOf(length, repeats) {
  const [pegs, may] = [number(length, 4, 8), yesOrNo(repeats)];
  return pegs === null || may === null ? null : { length: pegs, repeats: may };
}
