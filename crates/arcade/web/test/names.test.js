import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MAX_NAME, isPlain, plain } from '../js/lib/names.js';

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
