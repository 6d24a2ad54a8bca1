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

/** Players with the seats A, B and so on. @param {string[]} names */
const seated = (...names) => names.map((name, seat) => ({ name, seat: String.fromCharCode(65 + seat) }));

test('a name determines the face, and in a match all shapes and colours differ', () => {
  const names = ['Ann', 'Bob', 'Cid', 'Dan', 'Eve', 'Łukasz', '🎲', 'Bot Alan'];
  const [faces, others] = [new Faces(), new Faces()];
  faces.set(seated(...names));
  others.set(seated(...names).reverse());
  for (const part of /** @type {const} */ (['shape', 'colour'])) assert.equal(new Set(names.map((name) => faces.of(name)[part])).size, names.length, part);
  for (const name of names) assert.deepEqual(others.of(name), faces.of(name), name);
  assert.equal(new Set(names.map((name) => outline(faces.of(name)))).size, names.length);
  const ann = new Faces();
  ann.set(seated('Ann'));
  assert.deepEqual([ann.of('Ann'), ann.of('Zoe')], [faceOf('Ann'), faceOf('Zoe')]);
  // A player who has left keeps the face.
  const before = faces.of('Bob');
  faces.set(seated('Ann'));
  assert.deepEqual(faces.of('Bob'), before);
});

test('a present player keeps the face when others join, leave and return', () => {
  // Each later name has the shape or the colour of Zoe.
  const zoe = faceOf('Zoe');
  const rivals = Array.from({ length: 500 }, (_, number) => `A${number}`).filter((name) => faceOf(name).shape === zoe.shape || faceOf(name).colour === zoe.colour).slice(0, 5);
  assert.equal(rivals.length, 5);
  const faces = new Faces();
  faces.set(seated('Zoe'));
  /** @type {Map<string, import('../js/lib/face.js').Face>} */
  const first = new Map();
  for (let count = 1; count <= rivals.length; count += 1) {
    const present = ['Zoe', ...rivals.slice(0, count)];
    faces.set(seated(...present));
    for (const name of present) {
      assert.deepEqual(faces.of(name), first.get(name) ?? faces.of(name), name);
      first.set(name, faces.of(name));
    }
    for (const part of /** @type {const} */ (['shape', 'colour'])) assert.equal(new Set(present.map((name) => faces.of(name)[part])).size, present.length, part);
  }
  assert.deepEqual(faces.of('Zoe'), zoe);
  faces.set(seated('Zoe'));
  faces.set(seated(rivals[2], 'Zoe', rivals[0]));
  for (const name of ['Zoe', rivals[0], rivals[2]]) assert.deepEqual(faces.of(name), first.get(name), name);
});

test('pages of the first and the last player show the same faces', () => {
  const names = ['Zoe', 'Ann', 'Łukasz', 'Bot Ada', 'Bob', 'Bot Alan'];
  const [first, last] = [new Faces(), new Faces()];
  for (let count = 1; count <= names.length; count += 1) first.set(seated(...names.slice(0, count)));
  last.set(seated(...names));
  for (const name of names) assert.deepEqual(last.of(name), first.of(name), name);
});
