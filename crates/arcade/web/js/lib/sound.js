// Samples if sound is on, and short vibrations on phones.

import { element } from './dom.js';
import { prefersReducedMotion, recall, remember } from './settings.js';
import { say } from './text.js';

/** The files in `sounds`; `npm run sounds` makes them. */
export const TONES = /** @type {const} */ (['gold', 'swap', 'bomb', 'death', 'card', 'win', 'loss']);
/** @typedef {typeof TONES[number]} Tone */

/** Milliseconds of vibration and pause. @type {Partial<Record<Tone, number[]>>} */
const PULSES = { gold: [15], swap: [15], death: [60, 40, 60], win: [30, 40, 30], loss: [60] };
/** In percent. */
const VOLUME = 60;
/** A sample that is loaded later than this after its moment is not played, in milliseconds. */
const LATE = 300;
/** How long sound is offered, in milliseconds. */
const OFFERED = 12_000;

/** @type {AudioContext | null} */
let context = null;
/** @type {Map<Tone, Promise<AudioBuffer | null>>} */
const samples = new Map();

export const isOn = () => recall('sound') === 'on';

const volume = () => Math.min(100, Math.max(0, Number(recall('volume') ?? VOLUME) || 0));

/** @param {boolean} on */
export function setSound(on) {
  remember('sound', on ? 'on' : 'off');
  if (on && volume() === 0) remember('volume', null);
  for (const button of document.querySelectorAll('[data-sound]')) button.setAttribute('aria-pressed', String(on));
  for (const range of document.querySelectorAll('[data-volume]')) /** @type {HTMLInputElement} */ (range).value = String(on ? volume() : 0);
  if (on) sound('gold');
}

/** @param {Tone} tone */
export function sound(tone) {
  vibrate(tone);
  if (!isOn() || !('AudioContext' in globalThis)) return;
  context ??= new AudioContext();
  void start(context, tone, performance.now());
}

/**
 * @param {AudioContext} output
 * @param {Tone} tone
 * @param {number} due
 */
async function start(output, tone, due) {
  for (const one of TONES) if (!samples.has(one)) samples.set(one, load(output, one));
  const buffer = await samples.get(tone);
  if (!buffer || performance.now() - due > LATE) return;
  const [source, gain] = [output.createBufferSource(), output.createGain()];
  source.buffer = buffer;
  gain.gain.value = volume() / 100;
  source.connect(gain).connect(output.destination);
  source.start();
}

/** Null without the file. @param {AudioContext} output @param {Tone} tone */
async function load(output, tone) {
  try {
    const answer = await fetch(new URL(`sounds/${tone}.wav`, import.meta.url));
    return await output.decodeAudioData(await answer.arrayBuffer());
  } catch {
    return null;
  }
}

/** The volume in the settings. @param {string} id */
export function volumeField(id) {
  const range = element('input', { id, type: 'range', min: '0', max: '100', step: '10', 'data-volume': '', value: String(recall('sound') === 'off' ? 0 : volume()) });
  range.addEventListener('change', () => {
    remember('volume', range.value);
    setSound(Number(range.value) > 0);
  });
  return [element('label', { for: id }, say('room.volume')), range];
}

/**
 * Offers sound at the first key or click, until the player has chosen.
 * @param {HTMLElement} parent
 * @returns {() => void} Ends the offer.
 */
export function offerSound(parent) {
  const answer = (/** @type {boolean} */ on) => element('button', { type: 'button', class: on ? 'small primary' : 'small', click: () => (setSound(on), end()) }, say(on ? 'sound.on' : 'sound.off'));
  const offer = element('div', { class: 'offer', role: 'group', 'aria-label': say('room.sound') }, element('span', {}, say('sound.offer')), answer(true), answer(false));
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const show = () => {
    for (const kind of EVENTS) removeEventListener(kind, show);
    if (recall('sound') !== null) return;
    parent.append(offer);
    timer = setTimeout(end, OFFERED);
  };
  const end = () => {
    for (const kind of EVENTS) removeEventListener(kind, show);
    clearTimeout(timer);
    offer.remove();
  };
  if (recall('sound') === null) for (const kind of EVENTS) addEventListener(kind, show);
  return end;
}
const EVENTS = ['keydown', 'click'];

/** @param {Tone} tone */
function vibrate(tone) {
  const pulses = PULSES[tone];
  // Browsers refuse vibration before the first gesture, and log an error.
  if (!pulses || prefersReducedMotion() || !navigator.userActivation?.hasBeenActive || !matchMedia('(pointer: coarse)').matches) return;
  navigator.vibrate?.(pulses);
}
