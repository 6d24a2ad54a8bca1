import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MAX_NAME, isPlain, isolated, plain, shownName } from '../js/lib/names.js';

test('names that games change have a plain form', () => {
  for (const [name, form] of [
    ['Ann', 'Ann'],
    ['Zoë', 'Zoe'],
    ['  Bob the  great ', 'Bob_the__great'],
    ['Łukasz Weiß', 'Lukasz_Weiss'],
    ['<b>x', '<b>x'],
    ['名前', ''],
    ['x🎲y\u0007', 'xy'],
    ['é'.repeat(30), 'e'.repeat(MAX_NAME)],
  ]) {
    assert.equal(plain(name), form);
    assert.equal(isPlain(name), name === form, name);
    assert.ok(form === '' || isPlain(form), form);
  }
});

test('names cannot change the direction of surrounding text', () => {
  const steering = '\0\n\u001b\u007f\u009b\u061c\u200e\u200f\u202a\u202e\u2066\u2069';
  assert.equal(shownName(steering), '\ufffd'.repeat([...steering].length));
  for (const name of ['Ann', 'Żółw 🎲', 'שלום', 'مرحبا']) assert.equal(shownName(name), name);
  assert.equal(isolated('Ann\u202e'), 'Ann\ufffd');
  assert.equal(isolated('שלום 1'), '\u2068שלום 1\u2069');
});
