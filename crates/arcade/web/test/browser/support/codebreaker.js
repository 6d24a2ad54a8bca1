// Guesses codes that fit all answers so far.

import { feedback } from '../../../js/games/mastermind/information.js';

/** Four pegs and eight colours, with repeats. */
const CODES = Array.from({ length: 8 ** 4 }, (_, number) =>
  [...number.toString(8).padStart(4, '0')].map((digit) => Number(digit) + 1).join(''),
);

/** @typedef {{ guess: string, red: number, white: number }} Answer */

export class Codebreaker {
  constructor() {
    this.possible = CODES;
  }

  /** @param {Answer} told */
  learn({ guess, red, white }) {
    this.possible = this.possible.filter((code) => {
      const would = feedback(guess, code);
      return would.red === red && would.white === white;
    });
  }

  next() {
    const [first] = this.possible;
    if (first === undefined) throw new Error('no code fits the answers');
    return first;
  }
}
