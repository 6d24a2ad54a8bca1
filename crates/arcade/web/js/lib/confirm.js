// Asks before something that cannot be taken back.

import { element } from './dom.js';
import { say } from './text.js';

/**
 * @param {string} question
 * @param {string} consequence What is lost.
 * @param {string} action What the button is called that does it.
 * @param {string} [otherwise] What the button is called that does not.
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
