import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PLACEMENT, ratedText, ratingAfter } from '../js/lib/rating.js';

/** @param {number} matches @param {...number} ratings The last ones. */
const record = (matches, ...ratings) => ({ provisional: matches < PLACEMENT, matches, history: ratings.map((rating) => /** @type {[string, number]} */ (['', rating])) });

test('states no rating before ten matches', () => {
  for (const matches of [1, 9]) assert.equal(ratingAfter(record(matches, 1500, 1532)), `Placement ${matches} of 10`);
});

test('states the first rating without a change', () => {
  assert.equal(ratingAfter(record(10, 1500, 1532)), 'Your rating: 1532');
  assert.equal(ratingAfter(record(30, 1532)), 'Your rating: 1532');
});

test('states the change of a rating', () => {
  assert.equal(ratingAfter(record(11, 1500, 1532)), 'Rating 1532 (+32): better than expected');
  assert.equal(ratingAfter(record(11, 1532, 1500)), 'Rating 1500 (−32): below expectation');
  assert.equal(ratingAfter(record(11, 1500, 1500)), 'Rating 1500: as expected');
});

test('states the class of a rated match, and why another one is casual', () => {
  assert.equal(ratedText({ rated: true, class: 'standard' }), 'Rated');
  assert.equal(ratedText({ rated: true, class: '4-repeats' }), 'Rated: 4 pegs, repeats');
  assert.equal(ratedText({ rated: false, casual: 'options' }), 'Casual · custom settings');
  assert.equal(ratedText({}), '');
});
