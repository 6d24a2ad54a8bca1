// The dialog for the name.

import { errorText, load } from '../lib/api.js';
import { avatar } from '../lib/avatar.js';
import { element } from '../lib/dom.js';
import { faceOf } from '../lib/face.js';
import { MAX_NAME, MAX_WORD, characters, problem, shownName, tidy } from '../lib/names.js';
import { isStoragePersistent } from '../lib/settings.js';
import { errorOf, say } from '../lib/text.js';
import { name, notifyNameChange, onNameChange, provenKey, registerName } from './name-key.js';

/** An owned name stays valid. @param {string} wanted */
const problemOf = (wanted) => (wanted === name() && provenKey() !== null ? null : problem(wanted));

/**
 * Opens the dialog if the hub rejects the name of an earlier visit.
 * @param {boolean} [again] Opens it in any case.
 * @param {string | null} [code] The code that transfers a name from another device.
 * @returns {Promise<string | null>} Null if the dialog is cancelled.
 */
export function askName(again = false, code = null) {
  if (problemOf(name()) === null && !again) return Promise.resolve(name());
  return new Promise((resolve) => {
    const error = element('p', { class: 'error', role: 'alert' });
    const input = element('input', {
      id: 'name',
      dir: 'auto',
      spellcheck: 'false',
      autocomplete: 'nickname',
      required: true,
      'aria-describedby': 'name-note',
    });
    input.value = name();
    /** Returns whether the hub may accept the name. */
    const check = () => {
      const why = problemOf(tidy(input.value));
      const answer = { error: '', code: why ?? '', most: why === 'name_long' ? MAX_NAME : MAX_WORD };
      error.textContent = why === null ? '' : errorOf(answer);
      return why === null;
    };
    input.addEventListener('input', check);
    const done = (/** @type {string | null} */ result) => {
      dialog.close();
      dialog.remove();
      if (result) notifyNameChange();
      resolve(result);
    };
    const form = element(
      'form',
      {
        submit: async (event) => {
          event.preventDefault();
          const wanted = tidy(input.value);
          if (!wanted || !check()) return input.focus();
          try {
            await registerName(wanted);
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

/** A button that registers the name of a guest; none if the name is registered, or if this browser would forget it. */
export function keepButton() {
  if (provenKey() !== null || !isStoragePersistent()) return [];
  const keep = async () => {
    await askName(true);
    button.hidden = provenKey() !== null;
  };
  const button = element('button', { type: 'button', click: () => void keep() }, say('name.save'));
  return [button];
}

/** The button in the header that opens the dialog. */
export function nameButton() {
  const place = document.getElementById('who');
  if (!(place instanceof HTMLButtonElement)) return;
  const show = () => {
    // A long name loses its end, also from right to left.
    place.dir = 'auto';
    const face = avatar('', faceOf(name()));
    // The letter is no text, which would have to be part of the label.
    face.dataset.letter = characters(name())[0] ?? '';
    place.replaceChildren(face, element('span', {}, shownName(name())));
    place.setAttribute('aria-label', say('name.button', { name: name() }));
  };
  place.addEventListener('click', () => askName(true));
  onNameChange(show);
  show();
}
