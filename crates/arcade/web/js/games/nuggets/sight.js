// Which cells of a nuggets map are visible from a cell.
//
// A cell is visible unless the straight segment between the two centres is blocked: where the segment crosses a row or column
// strictly between them, the cell there must be a room spot, or one of the two cells if it crosses between two.
//
// Each quadrant around the viewer is scanned row by row, with the open intervals of directions (columns per row) that are not
// blocked so far. A run of opaque cells blocks a closed interval for the rows behind it. Two opaque cells one behind the other
// block everything between them, because a column is crossed there. Directions are compared as quotients of small integers,
// which floating point divides exactly enough: equal fractions give equal numbers, and others differ by far more than rounding.

/**
 * @param {number} rows
 * @param {number} columns
 * @param {(row: number, column: number) => boolean} isOpen Whether a cell lets sight through.
 * @param {number} row Of the viewer.
 * @param {number} column Of the viewer.
 * @returns {Uint8Array} 1 for each visible cell, row by row.
 */
export function visible(rows, columns, isOpen, row, column) {
  const sight = new Uint8Array(rows * columns);
  sight[row * columns + column] = 1;
  for (const [down, right] of [[0, 1], [0, -1], [1, 0], [-1, 0]]) {
    let [r, c] = [row + down, column + right];
    while (r >= 0 && r < rows && c >= 0 && c < columns) {
      sight[r * columns + c] = 1;
      if (!isOpen(r, c)) break;
      r += down;
      c += right;
    }
  }
  for (const down of [1, -1]) {
    for (const right of [1, -1]) {
      scan(
        down > 0 ? rows - 1 - row : row,
        right > 0 ? columns - 1 - column : column,
        (i, j) => !isOpen(row + down * i, column + right * j),
        (i, j) => {
          sight[(row + down * i) * columns + column + right * j] = 1;
        },
      );
    }
  }
  return sight;
}

/**
 * Above `low`, below `high`.
 * @typedef {{ low: number, high: number }} Gap
 */

/**
 * One quadrant, without the two straight lines that bound it.
 * @param {number} height Rows of the quadrant.
 * @param {number} width Columns of the quadrant.
 * @param {(i: number, j: number) => boolean} isBlocked Whether the cell `i` rows and `j` columns away is opaque.
 * @param {(i: number, j: number) => void} mark
 */
function scan(height, width, isBlocked, mark) {
  // Beyond the edge, cells are opaque.
  const isOpaque = (/** @type {number} */ i, /** @type {number} */ j) => j > width || isBlocked(i, j);
  /** @type {Gap[]} */
  let gaps = [{ low: 0, high: Infinity }];
  for (let i = 1; i <= height && gaps.length > 0; i += 1) {
    /** @type {Gap[]} */
    const open = [];
    for (const gap of gaps) {
      const high = highBeforePair(gap, i, width, isOpaque);
      for (let j = columnUpTo(gap.low, i) + 1; j <= width && (j / i < gap.high) && j / i <= high; j += 1) mark(i, j);
      subtractRuns({ low: gap.low, high: Math.min(gap.high, high) }, i, width, isOpaque, open);
    }
    gaps = open;
  }
}

/**
 * The last direction of a gap that no pair of opaque cells in rows `i - 1` and `i` blocks. The interval that a pair in column `m`
 * blocks, from `m / i` to `m / (i - 1)`, ends in a direction that is blocked already, so the first pair cuts off the rest of the gap.
 * @param {Gap} gap
 * @param {number} i
 * @param {number} width
 * @param {(i: number, j: number) => boolean} isOpaque
 */
function highBeforePair(gap, i, width, isOpaque) {
  const start = i === 1 ? 1 : columnUpTo(gap.low, i - 1) + 1;
  for (let m = Math.max(start, 1); m <= width && m / i < gap.high; m += 1) {
    if (isOpaque(i - 1, m) && isOpaque(i, m)) return m / i;
  }
  return Infinity;
}

/**
 * Appends what the runs of opaque cells in row `i` leave of a gap.
 * @param {Gap} gap
 * @param {number} i
 * @param {number} width
 * @param {(i: number, j: number) => boolean} isOpaque
 * @param {Gap[]} open
 */
function subtractRuns(gap, i, width, isOpaque, open) {
  let { low } = gap;
  for (let j = columnUpTo(gap.low, i); j <= width + 1 && j / i < gap.high; j += 1) {
    if (!isOpaque(i, j)) continue;
    if (j / i > low) open.push({ low, high: j / i });
    while (j <= width && j / i < gap.high && isOpaque(i, j + 1)) j += 1;
    low = Math.max(low, j > width ? Infinity : j / i);
  }
  if (low < gap.high) open.push({ low, high: gap.high });
}

/**
 * The last column whose direction in row `i` is not above `direction`.
 * @param {number} direction
 * @param {number} i
 */
function columnUpTo(direction, i) {
  let column = Math.floor(direction * i);
  while ((column + 1) / i <= direction) column += 1;
  while (column / i > direction) column -= 1;
  return column;
}
