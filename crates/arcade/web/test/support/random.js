/**
 * Deterministic.
 * @param {number} seed
 * @returns {(end: number) => number} A number below `end`.
 */
export function random(seed) {
  let state = seed;
  return (end) => {
    state = (state * 48271) % 2147483647;
    return state % end;
  };
}
