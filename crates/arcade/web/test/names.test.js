import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Faces, faceOf, outline } from '../js/lib/face.js';
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

test('a name determines the face, and in a match all shapes and colours differ', () => {
  const names = ['Ann', 'Bob', 'Cid', 'Dan', 'Eve', 'Łukasz', '🎲', 'Bot Alan'];
  const [faces, others] = [new Faces(), new Faces()];
  faces.set(names);
  others.set([...names].reverse());
  for (const part of /** @type {const} */ (['shape', 'colour'])) assert.equal(new Set(names.map((name) => faces.of(name)[part])).size, names.length, part);
  for (const name of names) assert.deepEqual(others.of(name), faces.of(name), name);
  assert.equal(new Set(names.map((name) => outline(faces.of(name)))).size, names.length);
  const ann = new Faces();
  ann.set(['Ann']);
  assert.deepEqual([ann.of('Ann'), ann.of('Zoe')], [faceOf('Ann'), faceOf('Zoe')]);
  // A player who has left keeps the face.
  const before = faces.of('Bob');
  faces.set(['Ann']);
  assert.deepEqual(faces.of('Bob'), before);
});
