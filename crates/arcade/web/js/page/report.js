// Reports a player of a match to the host of the hub.

import { errorText, request } from '../lib/api.js';
import { element } from '../lib/dom.js';
import { fit, isolated } from '../lib/names.js';
import { say } from '../lib/text.js';

/** Reasons of reports, as the hub names them. */
const REASONS = /** @type {const} */ (['name', 'talk', 'cheating', 'leaving', 'other']);
/** In bytes. */
const MAX_TEXT = 500;

/** @typedef {import('../games/types.js').Row} Row */

/**
 * Empty if the other players are bots.
 * @param {string} match
 * @param {Row[]} rows
 * @param {string | null} own The seat of the player.
 */
export function reportButton(match, rows, own) {
  const others = rows.filter(({ seat, bot }) => !bot && seat !== own);
  return others.length === 0 ? [] : [element('button', { type: 'button', class: 'quiet', 'data-key': `report ${match}`, 'aria-label': say('report.title'), click: () => open(match, others) }, say('report.send'))];
}

/**
 * @param {string} match
 * @param {Row[]} others
 */
function open(match, others) {
  const who = element('select', { id: 'report-who' }, ...others.map(({ seat, name }) => element('option', { value: seat }, isolated(name))));
  const why = element('select', { id: 'report-why' }, ...REASONS.map((reason) => element('option', { value: reason }, say(`report.why.${reason}`))));
  const text = element('textarea', { id: 'report-text', rows: '3', maxlength: String(MAX_TEXT), 'aria-describedby': 'report-note' });
  const error = element('p', { class: 'error', role: 'alert' });
  const done = () => {
    dialog.close();
    dialog.remove();
  };
  const send = element('button', { class: 'primary' }, say('report.send'));
  const form = element(
    'form',
    {
      submit: async (event) => {
        event.preventDefault();
        error.textContent = '';
        send.disabled = true;
        try {
          await request(`/api/matches/${encodeURIComponent(match)}/report`, { seat: who.value, reason: why.value, text: fit(text.value.trim(), MAX_TEXT) });
          const close = element('button', { type: 'button', class: 'primary', click: done }, say('report.close'));
          form.replaceChildren(element('p', { role: 'status' }, say('report.thanks')), close);
          close.focus();
        } catch (problem) {
          error.textContent = errorText(problem);
          send.disabled = false;
        }
      },
    },
    element('label', { for: who.id }, say('report.who')),
    who,
    element('label', { for: why.id }, say('report.why')),
    why,
    element('label', { for: text.id }, say('report.text')),
    text,
    element('p', { class: 'note', id: 'report-note' }, say('report.note')),
    error,
    element('div', { class: 'row' }, send, element('button', { type: 'button', click: done }, say('page.cancel'))),
  );
  const dialog = element('dialog', { class: 'report', 'aria-labelledby': 'report-title', cancel: done }, element('h2', { id: 'report-title' }, say('report.title')), form);
  document.body.append(dialog);
  dialog.showModal();
  who.focus();
}
