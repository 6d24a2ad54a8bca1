// Who plays: the name that this browser keeps, and the key by which it proves that the name is its own.

import { ask } from '../lib/api.js';
import { keeps, recall, remember } from '../lib/settings.js';

/** Of the key, in bytes. */
const KEY = 32;

/** What guests are called, before a number. */
const GUESTS = ['Badger', 'Beaver', 'Falcon', 'Ferret', 'Gecko', 'Heron', 'Jackal', 'Lemur', 'Marten', 'Newt', 'Otter', 'Panda', 'Raven', 'Robin', 'Stoat', 'Walrus'];

/** A name to play with until one is chosen. It stays that of this browser, and belongs to nobody. */
export function guest() {
  const kept = recall('guest');
  if (kept) return kept;
  const [animal, number] = crypto.getRandomValues(new Uint32Array(2));
  const made = `${GUESTS[animal % GUESTS.length]}${100 + (number % 900)}`;
  remember('guest', made);
  return made;
}

export const name = () => recall('name') ?? guest();
/** The key, if the hub knows that it goes with the name. */
export const provenKey = () => (recall('proven') === name() ? recall('key') : null);

/** A key that nobody has yet. */
function draw() {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY));
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The key of this browser, whether it proves a name or not. */
export function key() {
  const kept = recall('key');
  if (kept) return kept;
  const made = draw();
  remember('key', made);
  return made;
}

/** @type {Set<() => void>} */
const listeners = new Set();
/** Whoever shows the name is told when it is another one. @param {() => void} listener */
export const whenNamed = (listener) => listeners.add(listener);
export const sayNamed = () => listeners.forEach((listener) => listener());

/**
 * Takes a name for this browser.
 * @param {string} wanted
 * @throws {Error} When another browser has it; the message is for the person.
 */
export async function take(wanted) {
  try {
    // Without a key that lasts the name would be lost to this browser after a reload.
    if (!keeps()) throw new Error();
    await ask('/api/names', { name: wanted, key: key() });
    remember('proven', wanted);
  } catch (error) {
    const status = /** @type {{ status?: number }} */ (error).status;
    if (status === 409 || status === 422 || status === 400) throw error;
    // The name can be played with, though nobody can tell whose it is.
    remember('proven', null);
  }
  remember('name', wanted);
}

/** Registers the name of an earlier visit, if it is not proven yet. */
export async function proveName() {
  const known = recall('name');
  if (known && provenKey() === null) await take(known).catch(() => {});
}

/**
 * Takes the name of another device by its code.
 * @param {string} code
 * @returns {Promise<string>} The name.
 */
export async function redeem(code) {
  const { name: taken } = await ask('/api/names/redeem', { code, key: key() });
  remember('proven', taken);
  remember('name', taken);
  sayNamed();
  return taken;
}

/**
 * A code for another device, for how many seconds it is valid, and the address that takes it there, also as an SVG picture.
 * @returns {Promise<{ code: string, seconds: number, url: string | null, qr: string | null }>}
 */
export const codeForName = () => ask('/api/names/link', { name: name(), key: key() });

/** Has a new key prove the name, and no other one. */
export async function renewKey() {
  const made = draw();
  await ask('/api/names/key', { name: name(), key: key(), new: made });
  remember('key', made);
}

/** Gives the name up. */
export async function release() {
  await ask('/api/names/release', { name: name(), key: key() });
  remember('proven', null);
  remember('name', null);
  sayNamed();
}
