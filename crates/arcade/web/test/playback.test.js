import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Playback, clock, frame } from '../js/lib/playback.js';

/** A match of a hundred seconds with one numbered frame per second. */
function match() {
  /** @type {string[]} */
  let shown = [];
  const playback = new Playback(
    {
      length: 100_000,
      load: async (from, to) => {
        const frames = [{ at: from, data: `state ${Math.floor(from / 1000)}` }];
        for (let second = Math.floor(from / 1000) + 1; second * 1000 <= to; second += 1) frames.push({ at: second * 1000, data: String(second) });
        return { frames, to };
      },
    },
    {
      reset: () => {
        shown = [];
      },
      show: (data) => shown.push(String(data)),
      changed: () => {},
      failed: (error) => assert.fail(String(error)),
    },
  );
  return { playback, shown: () => shown.join(' ') };
}

/** Lets pending requests complete. */
const answers = () => new Promise((resolve) => setImmediate(resolve));

test('plays a match from any moment at any speed', async () => {
  const { playback, shown } = match();
  await playback.seek(10_500);
  assert.equal(shown(), 'state 10');
  playback.tick(5000);
  assert.equal(shown(), 'state 10', 'it does not play yet');
  await playback.play(true);
  playback.tick(1500);
  assert.equal(shown(), 'state 10 11 12');
  playback.setSpeed(2);
  playback.tick(1000);
  assert.equal(shown(), 'state 10 11 12 13 14');
});

test('loads chunks without gaps and duplicates', async () => {
  const { playback, shown } = match();
  await playback.seek(0);
  await playback.play(true);
  playback.setSpeed(4);
  for (let turn = 0; turn < 200; turn += 1) {
    playback.tick(250);
    await answers();
  }
  assert.equal(shown(), `state 0 ${Array.from({ length: 100 }, (_, index) => index + 1).join(' ')}`);
  assert.ok(!playback.playing, 'it has ended');
  await playback.play(true);
  assert.equal(playback.at, 0, 'from the end it begins anew');
});

test('steps to the next and the previous frame', async () => {
  const { playback, shown } = match();
  await playback.seek(5000);
  await playback.forward();
  await playback.forward();
  assert.equal(playback.at, 7000);
  await playback.back();
  assert.equal(playback.at, 6000);
  assert.equal(shown(), 'state 6');
  await playback.seek(100_000);
  assert.match(shown(), / 100$/, 'the end is reached from before');
  await playback.forward();
  assert.equal(playback.at, 100_000);
});

test('drops responses to requests before the last seek', async () => {
  const { playback, shown } = match();
  const [first, second] = [playback.seek(20_000), playback.seek(50_000)];
  await Promise.all([first, second]);
  assert.equal(shown(), 'state 50');
});

test('decodes frames and formats times', () => {
  assert.deepEqual(frame([7, 'OK A']), { at: 7, data: 'OK A' });
  const { data } = frame([8, { b: 'AwI=' }]);
  assert.ok(data instanceof ArrayBuffer);
  assert.deepEqual([...new Uint8Array(data)], [3, 2]);
  assert.deepEqual([0, 59_999, 61_000, 3_723_000].map(clock), ['0:00', '0:59', '1:01', '1:02:03']);
});
