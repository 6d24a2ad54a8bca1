// Who plays: the name, and the key by which this browser proves that it is its own.

import { ask, errorText } from '../lib/api.js';
import { element } from '../lib/dom.js';
import { MAX_NAME, isPlain, plain } from '../lib/names.js';
import { keeps, recall, remember } from '../lib/settings.js';
import { say } from '../lib/text.js';

/** Of the key, in bytes. */
const KEY = 32;

/** What guests are called, before a number. */
const GUESTS = ['Badger', 'Beaver', 'Falcon', 'Ferret', 'Gecko', 'Heron', 'Jackal', 'Lemur', 'Marten', 'Newt', 'Otter', 'Panda', 'Raven', 'Robin', 'Stoat', 'Walrus'];

/** A name to play with until one is chosen. It stays that of this browser, and belongs to nobody. */
function guest() {
  const kept = recall('guest');
  if (kept) return kept;
  const [animal, number] = crypto.getRandomValues(new Uint32Array(2));
  const made = `${GUESTS[animal % GUESTS.length]}${100 + (number % 900)}`;
  remember('guest', made);
  return made;
}

export const name = () => recall('name') ?? guest();
/** Whether the name is one that every game can show. */
const hasName = () => isPlain(name());
/** The key, if the hub knows that it goes with the name. */
export const provenKey = () => (recall('proven') === name() ? recall('key') : null);

function key() {
  const kept = recall('key');
  if (kept) return kept;
  const bytes = crypto.getRandomValues(new Uint8Array(KEY));
  const made = btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  remember('key', made);
  return made;
}

/**
 * Takes a name for this browser.
 * @param {string} wanted
 * @throws {Error} When another browser has it; the message is for the person.
 */
async function take(wanted) {
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

/** @type {Set<() => void>} */
const listeners = new Set();

/**
 * Asks for a name if that of an earlier visit cannot be shown by every game.
 * @param {boolean} [again] Also if it can.
 * @returns {Promise<string | null>} Null if the person would rather not.
 */
export function askName(again = false) {
  if (hasName() && !again) return Promise.resolve(name());
  const known = recall('name');
  return new Promise((resolve) => {
    const error = element('p', { class: 'error', role: 'alert' });
    const input = element('input', {
      id: 'name',
      maxlength: String(MAX_NAME),
      spellcheck: 'false',
      autocomplete: 'nickname',
      required: true,
      placeholder: known ?? guest(),
      'aria-describedby': 'name-note',
    });
    input.value = known ?? '';
    const suggestion = element('p', { class: 'row', 'aria-live': 'polite', hidden: true });
    /** Offers another name if not every game can show this one. Returns whether it can. */
    const check = () => {
      // A blank at the end may be followed by another word.
      const wanted = input.value.trim();
      const good = isPlain(wanted.replace(/\s+/g, '_'));
      const other = plain(wanted);
      error.textContent = '';
      suggestion.hidden = good || wanted === '';
      suggestion.replaceChildren(
        other ? `${say('name.other')} ` : say('name.latin'),
        ...(other ? [element('button', { type: 'button', class: 'small', click: () => use(other) }, other)] : []),
      );
      return good;
    };
    /** @param {string} other */
    const use = (other) => {
      input.value = other;
      check();
      input.focus();
    };
    input.addEventListener('input', check);
    const done = (/** @type {string | null} */ result) => {
      dialog.close();
      dialog.remove();
      if (result) for (const listener of listeners) listener();
      resolve(result);
    };
    const form = element(
      'form',
      {
        submit: async (event) => {
          event.preventDefault();
          // One word, since blackjack has no room for more.
          const wanted = input.value.trim().replace(/\s+/g, '_');
          if (!wanted || !check()) return input.focus();
          try {
            await take(wanted);
            done(wanted);
          } catch (problem) {
            error.textContent = errorText(problem);
            input.focus();
          }
          return undefined;
        },
      },
      element('label', { for: 'name' }, say('name.label')),
      input,
      element(
        'p',
        { class: 'note', id: 'name-note' },
        say('name.note'),
      ),
      suggestion,
      error,
      element(
        'div',
        { class: 'row' },
        element('button', { class: 'primary' }, say('name.save')),
        element('button', { type: 'button', click: () => done(null) }, say('page.cancel')),
      ),
    );
    const dialog = element('dialog', { 'aria-labelledby': 'name-title' }, element('h2', { id: 'name-title' }, say('name.title')), form);
    dialog.addEventListener('cancel', () => done(null));
    document.body.append(dialog);
    dialog.showModal();
    check();
    input.select();
  });
}

/** The button in the header that shows the name and changes it. */
export function nameButton() {
  const place = document.getElementById('who');
  if (!(place instanceof HTMLButtonElement)) return;
  const show = () => {
    place.textContent = name();
    place.setAttribute('aria-label', say('name.button', { name: name() }));
  };
  place.addEventListener('click', () => askName(true));
  listeners.add(show);
  show();
}
