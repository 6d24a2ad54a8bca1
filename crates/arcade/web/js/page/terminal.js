import { copyButton, copyable, element } from '../lib/dom.js';
import { say } from '../lib/text.js';
import { fromSource } from './labels.js';

/**
 * The command, and below it the one for a checkout of the sources.
 * @param {string} join
 * @param {string} label The accessible name of the command.
 */
export function terminalLines(join, label) {
  const built = fromSource(join);
  return [
    copyable(label, join),
    copyButton(() => join),
    ...(built === null ? [] : [element('p', { class: 'note' }, `${say('room.terminal.sources')} `, element('code', {}, built))]),
  ];
}
