import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MAX_NAME, characters, isolated, problem, shownName, tidy } from '../js/lib/names.js';

test('names in any script are valid, with a bound on characters and bytes', () => {
  for (const name of ['Ann', 'Łukasz', 'שרה', 'Жанна Bob', '🎲', '👩‍👩‍👧', 'Ł'.repeat(MAX_NAME), '...']) assert.equal(problem(name), null, name);
  for (const [name, why] of [['.', 'name_path'], ['..', 'name_path'], ['x'.repeat(MAX_NAME + 1), 'name_long'], ['👩‍👩‍👧'.repeat(4), 'name_length']]) {
    assert.equal(problem(name), why, name);
  }
  assert.equal(tidy('  Zoe\u0308\u00a0 the  great '), 'Zoë the great');
  assert.deepEqual(characters('👩‍👩‍👧🇵🇱x'), ['👩‍👩‍👧', '🇵🇱', 'x']);
});

test('names cannot change the direction of surrounding text', () => {
  const steering = '\0\n\u001b\u007f\u009b\u061c\u200e\u200f\u202a\u202e\u2066\u2069';
  assert.equal(shownName(steering), '\ufffd'.repeat([...steering].length));
  for (const name of ['Ann', 'Żółw 🎲', 'שלום', 'مرحبا']) assert.equal(shownName(name), name);
  assert.equal(isolated('Ann\u202e'), 'Ann\ufffd');
  assert.equal(isolated('שלום 1'), '\u2068שלום 1\u2069');
});
