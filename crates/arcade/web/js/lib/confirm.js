// A dialog that confirms an action that cannot be undone.

import { element } from './dom.js';
import { say } from './text.js';

/**
 * @param {string} question
 * @param {string} consequence The effect of the action.
 * @param {string} action The label of the button that confirms.
 * @param {string} [otherwise] The label of the button that cancels.
 * @returns {Promise<boolean>}
 */
export function confirm(question, consequence, action, otherwise = say('room.stay')) {
  return new Promise((resolve) => {
    const done = (/** @type {boolean} */ sure) => {
      dialog.close();
      dialog.remove();
      resolve(sure);
    };
    const stay = element('button', { type: 'button', class: 'primary', click: () => done(false) }, otherwise);
    const dialog = element(
      'dialog',
      { 'aria-labelledby': 'question', cancel: () => done(false) },
      element('h2', { id: 'question' }, question),
      element('p', {}, consequence),
      element('div', { class: 'row' }, stay, element('button', { type: 'button', click: () => done(true) }, action)),
    );
    document.body.append(dialog);
    dialog.showModal();
    stay.focus();
  });
}
