// The keys and gestures of a game, and the language.

import { element, listenToKeys } from '../lib/dom.js';
import { opener, popup } from '../lib/popup.js';
import { volumeField } from '../lib/sound.js';
import { say, sayIfKnown } from '../lib/text.js';
import { languageField } from './language.js';

/** @typedef {import('../games/types.js').Help} Help */

/** @param {string} key */
export const keyName = (key) => sayIfKnown(`key.${key}`, key);

/**
 * The button, and a function that stops the listeners.
 * @param {Help} help
 */
export function helpDialog(help) {
  const list = element('dl', { class: 'help' });
  for (const [keys, meaning] of help) {
    const term = element('dt', {});
    for (const key of keys.split(' ')) term.append(/^[a-z]+$/.test(key) && key.length > 1 ? element('span', {}, keyName(key)) : element('kbd', {}, keyName(key)), ' ');
    list.append(element('div', { class: term.querySelector('kbd') ? 'keys' : '' }, term, element('dd', {}, meaning)));
  }
  const { dialog, open } = popup(say('help.title'), list, ...volumeField('help-volume'), ...languageField('help-language'));
  dialog.addEventListener('keydown', ({ key }) => {
    if (key === '?') dialog.close();
  });
  const stopKeys = listenToKeys((event) => {
    if (event.key !== '?') return false;
    open();
    return true;
  });
  const stop = () => {
    stopKeys();
    dialog.close();
  };
  return { button: opener('?', say('help.title'), open), stop };
}
