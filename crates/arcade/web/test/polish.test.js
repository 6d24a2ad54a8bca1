// The page in a browser whose first language is Polish.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GAMES } from '../js/games/index.js';
import { story } from '../js/games/nuggets/story.js';
import { tally } from '../js/games/robots/fold.js';
import { errorOf, language, list, number, say, translate } from '../js/lib/text.js';
import { winnersText } from '../js/page/labels.js';

test('the page declares Polish as its language', () => {
  assert.equal(language, 'pl');
  assert.equal(document.documentElement.lang, 'pl');
});

test('declines nouns after numbers', () => {
  const said = [0, 1, 2, 5, 12, 22, 25, 112].map((score) => GAMES['nuggets'].score(score));
  assert.deepEqual(said, ['0 bryłek', '1 bryłka', '2 bryłki', '5 bryłek', '12 bryłek', '22 bryłki', '25 bryłek', '112 bryłek']);
  assert.deepEqual([tally(3, 1), tally(5, 2)], ['3 trafienia, 1 śmierć', '5 trafień, 2 śmierci']);
  assert.equal(number(1234.5, 2), '1234,50');
  assert.equal(number(12_345), '12\u00a0345');
});

test('inserts names into sentences', () => {
  assert.equal(list(['Ala', 'Ola', 'Ula']), 'Ala, Ola i Ula');
  assert.equal(winnersText([{ rank: 1, name: 'Ala' }, { rank: 2, name: 'Ola' }]), 'Wygrywa Ala');
  assert.equal(say('result.some', { names: list(['Ala', 'Ola']) }), 'Pierwsze miejsce dzielą Ala i Ola');
  assert.deepEqual(story([{ at: 1, kind: 'swap', text: 'Ala and Ola swap places' }], [], () => Promise.resolve([])), [{ at: 1, text: 'Ala i Ola zamieniają się miejscami.' }]);
});

test('translates known sentences of the hub', () => {
  for (const [sentence, polish] of [
    ['a race for 4, 5 pegs, no repeats', 'wyścig, gracze: 4, pionki: 5, bez powtórzeń'],
    ['4 robots on 16 x 12, 300 turns', '4 roboty, plansza 16 × 12, tury: 300'],
    ['Ala: 1 nuggets', 'Ala: 1 bryłka'],
    ['no repeats joins', 'no repeats dołącza'],
    ['the moon is full', 'the moon is full'],
    [`${'a'.repeat(400)} joins`, `${'a'.repeat(400)} joins`],
  ]) {
    assert.equal(translate(sentence), polish);
  }
});

test('words errors of the hub by their codes', () => {
  const full = /** @type {any} */ ({ error: 'x', code: 'too_many_rooms', count: 3 });
  assert.equal(errorOf(full), 'Otwarte są już 3 pokoje z Twojej sieci. Dołącz do któregoś albo zamknij jeden.');
});
