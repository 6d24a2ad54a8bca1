import { STEPS, isInSight } from '../../../js/games/nuggets/fold.js';

/** @typedef {import('../../../js/games/nuggets/fold.js').NuggetsState} NuggetsState */

/** Prefers cells that were not visited. */
export class Explorer {
  constructor() {
    /** @type {Set<string>} */
    this.visited = new Set();
    /** Displays show gold only while it is in sight. Without a memory, a step that hides it leads back and forth. @type {Set<string>} */
    this.gold = new Set();
  }

  /**
   * Goes towards gold, otherwise towards the most promising cell.
   * @param {NuggetsState} state
   * @returns {string | null} Null if the whole map is explored.
   */
  next(state) {
    const { place, terrain, display } = state;
    if (!place) return null;
    this.visited.add(`${place.row},${place.column}`);
    for (const [row, text] of display.entries()) {
      for (let column = 0; column < text.length; column += 1) {
        if (text[column] === '*') this.gold.add(`${row},${column}`);
        else if (isInSight(state, row, column)) this.gold.delete(`${row},${column}`);
      }
    }
    const known = (/** @type {number} */ row, /** @type {number} */ column) => terrain[row]?.[column] ?? '-';
    /** @type {Map<string, string>} */
    const first = new Map([[`${place.row},${place.column}`, '']]);
    const queue = [place];
    /** @type {{ key: string, worth: number } | null} */
    let best = null;
    for (const { row, column } of queue) {
      const key = /** @type {string} */ (first.get(`${row},${column}`));
      const ground = known(row, column);
      const edge = ground === '.' && STEPS.some(([, down, right]) => known(row + down, column + right) === ' ');
      const fresh = !this.visited.has(`${row},${column}`);
      const worth = this.gold.has(`${row},${column}`) ? 4 : edge ? 3 : fresh && ground === '#' ? 2 : fresh ? 1 : 0;
      // The first cell of a value is the nearest one.
      if (key && worth > (best?.worth ?? 0)) best = { key, worth };
      for (const [step, down, right] of STEPS) {
        const [r, c] = [row + down, column + right];
        if (first.has(`${r},${c}`) || !'.#'.includes(known(r, c))) continue;
        first.set(`${r},${c}`, key || step);
        queue.push({ row: r, column: c });
      }
    }
    return best?.key ?? null;
  }
}
