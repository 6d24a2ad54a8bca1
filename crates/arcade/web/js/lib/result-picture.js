// A result as a picture, in the size of link previews.

import { element } from './dom.js';
import { say } from './text.js';

const [WIDTH, HEIGHT] = [1200, 630];
const MARGIN = 80;
/** How long a saved picture stays in memory, in milliseconds. */
const STORED = 10_000;
/** The place of the bars. */
const CHART = { top: 400, bottom: 560 };

/**
 * @param {{ title: string, date: string, score: string, note: string, bars: { count: number, own: boolean }[], colour: string }} result
 * @returns {Promise<Blob>}
 */
export async function resultPicture({ title, date, score, note, bars, colour }) {
  // Otherwise the first picture has another typeface.
  await document.fonts?.ready;
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [WIDTH, HEIGHT];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.fillStyle = '#16130f';
  context.fillRect(0, 0, WIDTH, HEIGHT);
  context.fillStyle = colour.trim() || '#d6d6d6';
  context.fillRect(0, 0, 20, HEIGHT);
  const { fontFamily: family } = getComputedStyle(document.body);
  const write = (/** @type {string} */ text, /** @type {number} */ y, /** @type {number} */ size, /** @type {string} */ fill) => {
    context.font = `700 ${size}px ${family}`;
    context.fillStyle = fill;
    context.fillText(text, MARGIN, y, WIDTH - 2 * MARGIN);
  };
  write(`${title} · ${date}`, 110, 40, '#beb4a5');
  write(score, 240, 104, '#f4efe6');
  write(note, 310, 40, '#f4efe6');
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const step = (WIDTH - 2 * MARGIN) / Math.max(1, bars.length);
  for (const [index, { count, own }] of bars.entries()) {
    const height = Math.max(4, ((CHART.bottom - CHART.top) * count) / most);
    context.fillStyle = own ? '#f4efe6' : '#6b6257';
    context.fillRect(MARGIN + index * step + 4, CHART.bottom - height, step - 8, height);
  }
  write('Arcade', 604, 28, '#beb4a5');
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(say('challenge.no-picture')))), 'image/png');
  });
}

/**
 * Where the browser cannot share files, the picture is saved.
 * @param {Blob} blob
 * @param {string} name
 * @param {string} text
 */
export async function sharePicture(blob, name, text) {
  const file = new File([blob], name, { type: blob.type });
  if (navigator.canShare?.({ files: [file] })) {
    // A user who closes the dialog wants nothing else.
    await navigator.share({ files: [file], text }).catch(() => {});
    return;
  }
  const href = URL.createObjectURL(blob);
  element('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), STORED);
}
