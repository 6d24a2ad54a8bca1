// How one joins a room from a terminal.

import { copyButton, element } from '../lib/dom.js';
import { say } from '../lib/text.js';
import { fromSource } from './words.js';

/**
 * The command that joins a room, and below it the one for those who have the sources.
 * @param {string} join
 * @param {string} label What the command is called for those who do not see it.
 */
export function terminalLines(join, label) {
  const built = fromSource(join);
  return [
    element('code', { class: 'command', tabindex: '0', 'aria-label': label }, join),
    copyButton(() => join),
    ...(built === null ? [] : [element('p', { class: 'note' }, `${say('room.terminal.sources')} `, element('code', {}, built))]),
  ];
}
