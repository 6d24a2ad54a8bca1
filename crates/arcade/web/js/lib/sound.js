// Short tones if sound is on, and short vibrations on phones.

import { prefersReducedMotion, recall, remember } from './settings.js';

/** Frequencies in hertz and durations in seconds. */
const TONES = {
  gold: [[880, 0.06], [1320, 0.1]],
  swap: [[330, 0.08], [440, 0.08]],
  bomb: [[110, 0.18]],
  death: [[220, 0.12], [110, 0.25]],
  card: [[600, 0.03]],
  win: [[660, 0.1], [880, 0.1], [1100, 0.18]],
  loss: [[300, 0.12], [200, 0.2]],
};
/** @typedef {keyof typeof TONES} Tone */

/** Milliseconds of vibration and pause. @type {Partial<Record<Tone, number[]>>} */
const PULSES = { gold: [15], swap: [15], death: [60, 40, 60], win: [30, 40, 30], loss: [60] };

/** @type {AudioContext | null} */
let context = null;

export const isOn = () => recall('sound') === 'on';

/** @param {boolean} on */
export function setSound(on) {
  remember('sound', on ? 'on' : 'off');
  if (on) sound('gold');
}

/** @param {Tone} tone */
export function sound(tone) {
  vibrate(tone);
  if (!isOn() || !('AudioContext' in globalThis)) return;
  context ??= new AudioContext();
  let at = context.currentTime;
  for (const [frequency, length] of TONES[tone]) {
    const oscillator = context.createOscillator();
    const gain = context.createGain();
    oscillator.frequency.value = frequency;
    oscillator.type = 'triangle';
    gain.gain.setValueAtTime(0.12, at);
    gain.gain.exponentialRampToValueAtTime(0.001, at + length);
    oscillator.connect(gain).connect(context.destination);
    oscillator.start(at);
    oscillator.stop(at + length);
    at += length * 0.8;
  }
}

/** @param {Tone} tone */
function vibrate(tone) {
  const pulses = PULSES[tone];
  // Browsers refuse vibration before the first gesture, and log an error.
  if (!pulses || prefersReducedMotion() || !navigator.userActivation?.hasBeenActive || !matchMedia('(pointer: coarse)').matches) return;
  navigator.vibrate?.(pulses);
}
