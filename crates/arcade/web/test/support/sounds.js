// Synthesizes the samples in js/lib/sounds: `npm run sounds`. The same code makes the same files.

import { mkdirSync, writeFileSync } from 'node:fs';

/** Samples per second. */
const RATE = 16_000;
/** The loudest sample of each file, of 1. */
const PEAK = 0.8;
/** Rise at the start and fall at the end in seconds, against clicks. */
const EDGE = 0.004;

/** The value at a time in seconds. @typedef {(at: number) => number} Wave */

/** A struck bell. @param {number} pitch @param {number} [decay] @returns {Wave} */
const bell = (pitch, decay = 9) => (at) =>
  at < 0 ? 0 : [[1, 1], [2, 0.45], [3.01, 0.22], [5.4, 0.1]].reduce((sum, [part, share], index) => sum + share * Math.sin(2 * Math.PI * pitch * part * at) * Math.exp(-at * decay * (1 + index)), 0);

/** A tone that glides from one pitch to another. @param {number} from @param {number} to @param {number} decay @returns {Wave} */
const glide = (from, to, decay) => (at) => Math.sin(2 * Math.PI * (to * at + ((from - to) * (1 - Math.exp(-8 * at))) / 8)) * Math.exp(-at * decay);

/** Noise below a pitch that falls. @param {number} pitch @param {number} decay @returns {Wave} */
function noise(pitch, decay) {
  let [seed, low] = [1, 0];
  return (at) => {
    seed = (seed * 48_271) % 2_147_483_647;
    const share = 1 - Math.exp((-2 * Math.PI * pitch * Math.exp(-3 * at)) / RATE);
    low += share * ((2 * seed) / 2_147_483_647 - 1 - low);
    return low * Math.exp(-at * decay);
  };
}

/** Waves with their starts. @param {[number, Wave][]} parts @returns {Wave} */
const mix = (...parts) => (at) => parts.reduce((sum, [start, wave]) => sum + (at < start ? 0 : wave(at - start)), 0);
/** @param {number} share @param {Wave} wave @returns {Wave} */
const soft = (share, wave) => (at) => share * wave(at);

/** Durations in seconds. @type {Record<string, [number, Wave]>} */
const SOUNDS = {
  gold: [0.32, mix([0, bell(1319)], [0.07, bell(1976)])],
  swap: [0.26, mix([0, glide(330, 660, 10)], [0.1, soft(0.7, glide(660, 330, 12))])],
  bomb: [0.42, mix([0, noise(2400, 9)], [0, soft(0.9, glide(150, 45, 8))])],
  death: [0.5, mix([0, soft(0.8, noise(3200, 12))], [0.03, glide(440, 80, 6)])],
  card: [0.09, mix([0, noise(5200, 45)], [0.02, soft(0.4, noise(2600, 60))])],
  win: [0.7, mix([0, bell(523, 6)], [0.11, bell(659, 6)], [0.22, bell(784, 6)], [0.33, bell(1047, 5)])],
  loss: [0.55, mix([0, bell(392, 8)], [0.16, soft(0.9, bell(311, 7))])],
};

/** A mono file of 16 bits. @param {number} length @param {Wave} wave */
function file(length, wave) {
  const count = Math.round(length * RATE);
  const values = Array.from({ length: count }, (_, index) => {
    const at = index / RATE;
    return wave(at) * Math.min(1, at / EDGE, (length - at) / (10 * EDGE));
  });
  const loudest = Math.max(...values.map(Math.abs));
  const data = Buffer.alloc(44 + 2 * count);
  data.write('RIFF', 0);
  data.writeUInt32LE(36 + 2 * count, 4);
  data.write('WAVEfmt ', 8);
  data.writeUInt32LE(16, 16);
  data.writeUInt16LE(1, 20);
  data.writeUInt16LE(1, 22);
  data.writeUInt32LE(RATE, 24);
  data.writeUInt32LE(2 * RATE, 28);
  data.writeUInt16LE(2, 32);
  data.writeUInt16LE(16, 34);
  data.write('data', 36);
  data.writeUInt32LE(2 * count, 40);
  values.forEach((value, index) => data.writeInt16LE(Math.round((value / loudest) * PEAK * 32_767), 44 + 2 * index));
  return data;
}

const folder = new URL('../../js/lib/sounds/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [name, [length, wave]] of Object.entries(SOUNDS)) writeFileSync(new URL(`${name}.wav`, folder), file(length, wave));
