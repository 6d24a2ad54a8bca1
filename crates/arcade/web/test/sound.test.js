import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { TONES } from '../js/lib/sound.js';

test('each tone has a small sample that starts and ends in silence', () => {
  for (const tone of TONES) {
    const file = readFileSync(new URL(`../js/lib/sounds/${tone}.wav`, import.meta.url));
    assert.equal(file.toString('latin1', 0, 4) + file.toString('latin1', 8, 12), 'RIFFWAVE', tone);
    const rate = file.readUInt32LE(24);
    const count = (file.length - 44) / 2;
    assert.ok(count / rate <= 0.7 && file.length < 24_000, tone);
    const at = (/** @type {number} */ index) => Math.abs(file.readInt16LE(44 + 2 * index));
    const loudest = Math.max(...Array.from({ length: count }, (_, index) => at(index)));
    assert.ok(loudest > 20_000 && loudest < 32_000, tone);
    assert.ok(at(0) < 400 && at(count - 1) < 400, tone);
  }
});
