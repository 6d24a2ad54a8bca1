// Built from the options that the hub describes.

import { GAMES, isGame } from '../games/index.js';
import { errorText, request } from '../lib/api.js';
import { element } from '../lib/dom.js';
import { MAX_ROOM_NAME, MAX_WORD } from '../lib/names.js';
import { popup } from '../lib/popup.js';
import { navigate } from '../lib/route.js';
import { roomStorage } from '../lib/settings.js';
import { say, sayIfKnown } from '../lib/text.js';
import { askName } from './name-dialog.js';

/**
 * As the hub describes it.
 * @typedef {object} Option
 * @property {string} name
 * @property {string} type `integer`, `choice` or `boolean`
 * @property {number | string | boolean | null} default Null if the hub draws it at random.
 * @property {number} [least]
 * @property {number} [most]
 * @property {string[]} [choices]
 * @property {string} text The description.
 * @typedef {{ game: string, options: Option[] }} Form
 */

const VISIBILITIES = /** @type {const} */ (['public', 'link', 'word']);
/** The largest custom map in bytes. */
const MAX_MAP = 12 * 1024;

/** The dialog with the form, which is loaded when it opens. */
export function newRoom() {
  const place = element('div', { class: 'form' });
  const { dialog, open: show } = popup(say('new.open'), place);
  dialog.classList.add('new-room');
  const open = async () => {
    show();
    if (place.querySelector('form')) return;
    try {
      const { games } = /** @type {{ games: Form[] }} */ (await request('/api/games'));
      fill(place, games.filter(({ game }) => isGame(game)), () => dialog.close());
    } catch (error) {
      place.replaceChildren(element('p', { class: 'error', role: 'alert' }, errorText(error)));
    }
  };
  return { dialog, open };
}

/**
 * @param {HTMLElement} place
 * @param {Form[]} forms
 * @param {() => void} done
 */
function fill(place, forms, done) {
  const choice = element('select', { id: 'new-game' });
  for (const { game } of forms) choice.append(element('option', { value: game }, GAMES[game].title));
  const fields = element('div', { class: 'fields' });
  const error = element('p', { class: 'error', role: 'alert' });
  const who = whoEnters();
  const map = ownMap(() => fields.querySelector('[name=map]'));
  const show = () => {
    const form = forms.find(({ game }) => game === choice.value);
    fields.replaceChildren(...(form?.options ?? []).map((option) => field(choice.value, option)), ...(choice.value === 'nuggets' ? [map.field] : []));
    error.textContent = '';
  };
  choice.addEventListener('change', show);
  const form = element(
    'form',
    {
      submit: async (event) => {
        event.preventDefault();
        error.textContent = '';
        if (!(await askName())) return;
        try {
          const own = choice.value === 'nuggets' ? await map.text() : null;
          const wish = who.wish();
          const room = await request('/api/rooms', { game: choice.value, ...values(fields), ...(own === null ? {} : { own_map: own }), room: wish });
          roomStorage.remember(`owner ${room.id}`, room.owner_token);
          if (room.code) roomStorage.remember(`code ${room.id}`, room.code);
          if (wish.word) roomStorage.remember(`word ${room.id}`, wish.word);
          done();
          navigate(`/rooms/${room.id}`);
        } catch (problem) {
          error.textContent = errorText(problem);
        }
      },
    },
    element('div', { class: 'fields' }, element('div', { class: 'field' }, element('label', { for: 'new-game' }, say('new.game')), choice), ...who.fields),
    fields,
    error,
    element('button', { class: 'primary' }, say('new.submit')),
  );
  place.replaceChildren(form);
  show();
}

/** The fields for the name and the visibility of the room. */
function whoEnters() {
  const name = element('input', { id: 'new-name', maxlength: String(MAX_ROOM_NAME), autocomplete: 'off', 'aria-describedby': 'new-name-note' });
  const visibility = element(
    'select',
    { id: 'new-visibility', 'aria-describedby': 'new-visibility-note' },
    ...VISIBILITIES.map((one) => element('option', { value: one }, say(`new.enter.${one}`))),
  );
  const note = element('p', { class: 'note', id: 'new-visibility-note' });
  const word = element('input', { id: 'new-word', maxlength: String(MAX_WORD), autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none' });
  const passwordField = element('div', { class: 'field' }, element('label', { for: word.id }, say('new.word')), word);
  const show = () => {
    passwordField.hidden = visibility.value !== 'word';
    word.required = !passwordField.hidden;
    note.textContent = sayIfKnown(`new.enter.${visibility.value}.note`, '');
  };
  visibility.addEventListener('change', show);
  show();
  return {
    fields: [
      element('div', { class: 'field' }, element('label', { for: name.id }, say('new.name')), name, element('p', { class: 'note', id: 'new-name-note' }, say('new.name.note'))),
      element('div', { class: 'field' }, element('label', { for: visibility.id }, say('new.enter')), visibility, note),
      passwordField,
    ],
    /** @returns {{ visibility: string, name?: string, word?: string }} */
    wish: () => ({
      visibility: visibility.value,
      ...(name.value.trim() ? { name: name.value.trim() } : {}),
      ...(visibility.value === 'word' ? { word: word.value } : {}),
    }),
  };
}

/** @param {() => Element | null} offered The selection of the hub's maps, which a custom map disables. */
function ownMap(offered) {
  const file = element('input', { id: 'new-map', type: 'file', accept: '.txt,text/plain', 'aria-describedby': 'new-map-note' });
  file.addEventListener('change', () => offered()?.toggleAttribute('disabled', file.files?.length === 1));
  return {
    field: element('div', { class: 'field' }, element('label', { for: file.id }, say('new.map')), file, element('p', { class: 'note', id: 'new-map-note' }, say('new.map.note'))),
    /** The text of the chosen file; null if there is none. */
    text: async () => {
      const chosen = file.files?.[0];
      if (!chosen) return null;
      // The hub rejects larger requests.
      if (chosen.size > MAX_MAP) throw new Error(say('new.map.long', { most: MAX_MAP / 1024 }));
      return chosen.text();
    },
  };
}

/**
 * @param {string} game
 * @param {Option} option
 */
export function field(game, option) {
  const { name, type, text } = option;
  const id = `option-${name}`;
  const key = `option.${game}.${name}`;
  const note = element('p', { class: 'note', id: `${id}-note` }, sayIfKnown(`${key}.note`, text));
  const common = { id, name, 'aria-describedby': note.id, 'data-type': type };
  /** @type {HTMLInputElement | HTMLSelectElement} */
  let input;
  if (type === 'choice') {
    input = element('select', common, ...(option.choices ?? []).map((one) => element('option', { value: one }, sayIfKnown(`${key}.${one}`, one))));
    if (option.default !== null) input.value = String(option.default);
  } else if (type === 'boolean') {
    input = element('input', { ...common, type: 'checkbox', checked: option.default === true });
  } else {
    const bounds = {
      ...(option.least === undefined ? {} : { min: String(option.least) }),
      ...(option.most === undefined ? {} : { max: String(option.most) }),
    };
    const placeholder = option.default === null ? say('new.chance') : '';
    input = element('input', { ...common, type: 'number', inputmode: 'numeric', step: '1', placeholder, ...bounds });
    if (option.default !== null) input.value = String(option.default);
  }
  const label = name.replaceAll('_', ' ');
  return element('div', { class: 'field' }, element('label', { for: id }, sayIfKnown(key, label[0].toUpperCase() + label.slice(1))), input, note);
}

/**
 * Empty fields are omitted, since the hub has defaults.
 * @param {HTMLElement} fields
 */
export function values(fields) {
  /** @type {Record<string, string | number | boolean>} */
  const all = {};
  for (const input of fields.querySelectorAll('input, select')) {
    if (input instanceof HTMLInputElement) {
      if (input.type === 'file') continue;
      if (input.type === 'checkbox') all[input.name] = input.checked;
      else if (input.value !== '') all[input.name] = Number(input.value);
    } else if (input instanceof HTMLSelectElement) {
      all[input.name] = input.value;
    }
  }
  return all;
}
