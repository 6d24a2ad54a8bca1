// Finds a code of mastermind: it guesses what fits all answers so far.

/** Of four pegs and eight colours, with repeats. */
const CODES = Array.from({ length: 8 ** 4 }, (_, number) =>
  [...number.toString(8).padStart(4, '0')].map((digit) => Number(digit) + 1).join(''),
);

/** @typedef {{ guess: string, red: number, white: number }} Answer */

/**
 * What a code answers to a guess.
 * @param {string} code
 * @param {string} guess
 */
export function answer(code, guess) {
  const red = [...guess].filter((digit, place) => code[place] === digit).length;
  const common = [...'12345678'].reduce((sum, digit) => sum + Math.min(code.split(digit).length, guess.split(digit).length) - 1, 0);
  return { red, white: common - red };
}

export class Codebreaker {
  constructor() {
    this.possible = CODES;
  }

  /** @param {Answer} told */
  learn({ guess, red, white }) {
    this.possible = this.possible.filter((code) => {
      const would = answer(code, guess);
      return would.red === red && would.white === white;
    });
  }

  next() {
    const [first] = this.possible;
    if (first === undefined) throw new Error('no code fits the answers');
    return first;
  }
}
