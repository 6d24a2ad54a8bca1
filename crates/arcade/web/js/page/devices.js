// The name on several devices: transfer by a code, a new key, and release.

import { errorText } from '../lib/api.js';
import { confirm } from '../lib/confirm.js';
import { copyButton, copyable, element } from '../lib/dom.js';
import { spaced } from '../lib/names.js';
import { publicAddress } from '../lib/public.js';
import { say } from '../lib/text.js';
import { codeForName, key, name, provenKey, redeemCode, releaseName, renewKey } from './name-key.js';

/**
 * A part of the name dialog: a form for a transfer code, and the actions of the owner of the name.
 * @param {string | null} code The code in the address, if any.
 * @param {(name: string) => void} taken Receives the name that was transferred to this device.
 */
export function devices(code, taken) {
  const problem = element('p', { class: 'error', role: 'alert' });
  const done = element('p', { class: 'soft', role: 'status' });
  /**
   * Shows the error of an action.
   * @param {() => Promise<unknown>} action
   */
  const attempt = async (action) => {
    problem.textContent = done.textContent = '';
    try {
      await action();
    } catch (error) {
      problem.textContent = errorText(error);
    }
  };
  const input = element('input', { id: 'device-code', autocomplete: 'off', spellcheck: 'false', required: true, maxlength: '20', 'aria-describedby': 'device-code-note' });
  input.value = code ?? '';
  const form = element(
    'form',
    {
      submit: (event) => {
        event.preventDefault();
        void attempt(async () => taken(await redeemCode(input.value)));
      },
    },
    element('label', { for: input.id }, say('device.code')),
    input,
    element('p', { class: 'note', id: 'device-code-note' }, say('device.code.note', { name: name() })),
    element('button', {}, say('device.take')),
  );
  const place = element('div', { class: 'devices' });
  const own = provenKey() === null ? element('p', { class: 'note' }, say('device.unproven')) : ownName(place, done, attempt);
  place.append(form, own, problem, done);
  return place;
}

/**
 * @param {HTMLElement} place Cleared when the name is released.
 * @param {HTMLElement} done Shows that an action has succeeded.
 * @param {(action: () => Promise<unknown>) => Promise<void>} attempt
 */
function ownName(place, done, attempt) {
  const shown = element('div', { 'aria-live': 'polite' });
  const give = async () => {
    const { code, seconds, url, qr } = await codeForName();
    const address = url ?? publicAddress(`/#name=${code}`);
    const picture = qr && `data:image/svg+xml,${encodeURIComponent(qr)}`;
    shown.replaceChildren(
      element('p', {}, say('device.code.is', { count: Math.round(seconds / 60) })),
      copyable(say('device.code'), spaced(code)),
      element('div', { class: 'row' }, copyButton(() => address, say('device.link'))),
      ...(picture ? [element('p', { class: 'qr' }, element('img', { src: picture, alt: say('device.qr'), width: '200', height: '200' }))] : []),
    );
  };
  const replace = async () => {
    if (!(await confirm(say('device.key.sure'), say('device.key.lost'), say('device.key'), say('page.cancel')))) return;
    await renewKey();
    shown.replaceChildren();
    done.textContent = say('device.key.done');
  };
  const show = async () => {
    shown.replaceChildren(
      element('p', { class: 'note' }, say('device.export.note')),
      copyable(say('device.export'), key()),
      copyButton(key),
    );
  };
  const giveUp = async () => {
    const left = name();
    if (!(await confirm(say('device.release.sure', { name: left }), say('device.release.lost'), say('device.release'), say('page.cancel')))) return;
    await releaseName();
    place.replaceChildren(element('p', { role: 'status' }, say('device.release.done', { name: left })));
  };
  const button = (/** @type {string} */ text, /** @type {() => Promise<void>} */ action) =>
    element('button', { type: 'button', click: () => void attempt(action) }, text);
  return element(
    'div',
    {},
    element('h3', {}, name()),
    element('div', { class: 'row' }, button(say('device.give'), give), button(say('device.export'), show), button(say('device.key'), replace), button(say('device.release'), giveUp)),
    shown,
  );
}
