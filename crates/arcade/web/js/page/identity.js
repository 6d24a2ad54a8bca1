// Who plays: the dialog that asks for a name, and the button that shows it.

import { errorText, load } from '../lib/api.js';
import { element } from '../lib/dom.js';
import { MAX_NAME, isPlain, plain } from '../lib/names.js';
import { recall } from '../lib/settings.js';
import { say } from '../lib/text.js';
import { guest, name, sayNamed, take, whenNamed } from './key.js';

/** Whether the name is one that every game can show. */
const hasName = () => isPlain(name());

/**
 * Asks for a name if that of an earlier visit cannot be shown by every game.
 * @param {boolean} [again] Also if it can.
 * @param {string | null} [code] By which the name of another device is taken.
 * @returns {Promise<string | null>} Null if the person would rather not.
 */
export function askName(again = false, code = null) {
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
      if (result) sayNamed();
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
    const place = element('div');
    const details = element(
      'details',
      {
        open: code !== null,
        toggle: async () => {
          if (!details.open || place.firstChild) return;
          try {
            const { devices } = await load(() => import('./devices.js'));
            place.replaceChildren(devices(code, done));
          } catch (problem) {
            place.replaceChildren(element('p', { class: 'error', role: 'alert' }, errorText(problem)));
          }
        },
      },
      element('summary', {}, say('device.more')),
      place,
    );
    const dialog = element('dialog', { 'aria-labelledby': 'name-title' }, element('h2', { id: 'name-title' }, say('name.title')), form, details);
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
  whenNamed(show);
  show();
}
