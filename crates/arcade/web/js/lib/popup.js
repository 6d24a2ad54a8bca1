// A dialog with a heading and a button that closes it.

import { element } from './dom.js';
import { say } from './text.js';

/**
 * Opens by `open`.
 * @param {string} heading
 * @param {...(Node | string)} content
 */
export function popup(heading, ...content) {
  const close = element('button', { type: 'button', class: 'close', 'aria-label': say('popup.close'), click: () => dialog.close() }, '✕');
  const dialog = element('dialog', { class: 'popup', 'aria-label': heading, close: () => dialog.remove() }, element('div', { class: 'row' }, element('h2', {}, heading), close), ...content);
  // A click on the backdrop has the dialog as its target.
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close();
  });
  const open = () => {
    if (dialog.open) return;
    document.body.append(dialog);
    dialog.showModal();
  };
  return { dialog, open };
}

/**
 * @param {string} sign
 * @param {string} label
 * @param {() => void} open
 */
export const opener = (sign, label, open) => element('button', { type: 'button', class: 'icon', 'aria-label': label, 'aria-haspopup': 'dialog', click: open }, sign);
