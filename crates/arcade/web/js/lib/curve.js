import { number, say } from './text.js';

const NAMESPACE = 'http://www.w3.org/2000/svg';
const [WIDTH, HEIGHT] = [320, 120];
/** Space to the left of the curve for the numbers, and around the curve. */
const [LEFT, EDGE] = [44, 8];
/** Points that are drawn. */
const MAX_POINTS = 300;

/**
 * @param {number[]} values At least two.
 * @param {string} label
 * @returns {SVGElement}
 */
export function curve(values, label) {
  const every = Math.ceil(values.length / MAX_POINTS);
  const drawn = values.filter((_, index) => index % every === 0 || index === values.length - 1);
  const [low, high] = [Math.min(...drawn), Math.max(...drawn)];
  const span = high - low || 1;
  const x = (/** @type {number} */ index) => LEFT + ((WIDTH - LEFT - EDGE) * index) / (drawn.length - 1);
  const y = (/** @type {number} */ value) => HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * (value - low)) / span;
  const svg = svgElement('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: 'curve', role: 'img' });
  const last = drawn[drawn.length - 1];
  const [first, end, least, most] = [drawn[0], last, low, high].map(Math.round);
  svg.setAttribute('aria-label', say('curve.label', { what: label, first, last: end, low: least, high: most }));
  for (const value of low === high ? [low] : [low, high]) {
    svg.append(svgElement('line', { x1: String(LEFT), x2: String(WIDTH - EDGE), y1: String(y(value)), y2: String(y(value)), class: 'grid' }));
    const text = svgElement('text', { x: String(LEFT - 6), y: String(y(value) + 4), 'text-anchor': 'end' });
    text.textContent = number(Math.round(value));
    svg.append(text);
  }
  const points = drawn.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  svg.append(svgElement('polyline', { points }), svgElement('circle', { cx: String(x(drawn.length - 1)), cy: String(y(last)), r: '3.5' }));
  return svg;
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 */
export function svgElement(tag, attributes, text = '') {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.textContent = text;
  return made;
}
