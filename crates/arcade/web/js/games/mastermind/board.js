/**
 * A guess with its red and white answers; or the place, from 1, and the digit that a lifeline has revealed, null if unknown.
 * @typedef {[string, number, number] | [number | null, string | null]} SmallRow
 */

/** Colours and their text colours, from 1 on; each pair has a contrast of at least 4.5. The style sheet has the same. */
const PAINTS = ['#f7f3ea', '#1d1b22', '#e5402f', '#f5c518', '#2457d6', '#39b54a', '#8e24c9', '#f58a1f'];

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} length Pegs per row.
 * @param {SmallRow[]} lines The last rows.
 * @param {number} width
 * @param {number} height
 */
export function drawSmall(context, length, lines, width, height) {
  context.fillStyle = '#241a3a';
  context.fillRect(0, 0, width, height);
  const size = Math.min(height / 6, width / (length * 1.7));
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.font = `700 ${size * 0.6}px 'Fredoka Variable', system-ui, sans-serif`;
  for (let row = 0; row < 5; row += 1) {
    const line = lines[row];
    const y = (row + 0.5) * (height / 5);
    for (let place = 0; place < length; place += 1) {
      const digit = !line ? '' : line.length === 3 ? line[0][place] : line[0] === place + 1 ? (line[1] ?? '*') : '';
      const x = width / 2 + (place - length / 2) * size * 1.15;
      context.beginPath();
      context.arc(x, y, size * 0.46, 0, 2 * Math.PI);
      context.fillStyle = digit && digit !== '*' ? PAINTS[Number(digit) - 1] : line ? '#5a4a80' : '#150d26';
      context.fill();
      if (digit) {
        context.fillStyle = ['2', '5', '7', '*'].includes(digit) ? '#ffffff' : '#1b1208';
        context.fillText(digit === '*' ? '?' : digit, x, y);
      }
    }
    if (line?.length === 3) {
      context.fillStyle = '#f3edff';
      context.fillText(`${line[1]}●${line[2]}○`, width / 2 + (length / 2 + 0.9) * size * 1.15, y);
    }
  }
}
