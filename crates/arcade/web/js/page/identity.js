// The dialog for the name.

import { errorText, load } from '../lib/api.js';
import { element } from '../lib/dom.js';
import { MAX_NAME, isPlain, plain } from '../lib/names.js';
import { recall } from '../lib/settings.js';
import { say } from '../lib/text.js';
import { guest, name, sayNamed, take, whenNamed } from './key.js';

const hasName = () => isPlain(name());

/**
 * Opens the dialog if some games cannot show the name of an earlier visit.
 * @param {boolean} [again] Opens it in any case.
 * @param {string | null} [code] The code that transfers a name from another device.
 * @returns {Promise<string | null>} Null if the dialog is cancelled.
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
    /** Suggests another name if some games cannot show this one. Returns whether all can. */
    const check = () => {
      // Another word may follow a space at the end.
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
          // Names in blackjack have no spaces.
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

/** The button in the header that opens the dialog. */
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
